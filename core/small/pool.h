/* SPDX-License-Identifier: MIT */
/*
 * libashlar-small.a: a pool is 2 MiB of memory with an arena of its own (arena/arena.h), whose record lies
 * apart and is never unmapped.  Pools have three levels, by the arena's granule.  So a block has at most 127
 * granules, which the arena's summary can count, and each search is short.
 *
 *	level   granule   blocks up to   alignments up to
 *	0           16          2 032                256
 *	1          256         32 512              4 096
 *	2        4 096        520 192             65 536     larger blocks: large.h
 *
 * An arena counts granules of 16 bytes.  So it gets addresses inside its pool, from POOL_BASE on, that are
 * divided by 1, 16 or 256 (pool_inside); no arena reads memory there.
 *
 * Threads are spread over lanes by the addresses of their stacks.  A lane has a current pool of each level,
 * from which it allocates.  If the current pool has no room, these pools are tried in order, and the first
 * with room becomes current: the pools in the list that are no other lane's current pool, a new pool, any
 * pool.
 *
 * Memory goes back when a release leaves its pool empty: of a lane's current pool the part above POOL_KEEP,
 * if that was used; of another pool all, with its addresses.  In such other pools the pages of blocks of
 * POOL_PURGE bytes and more go with each release.
 *
 * To give memory back a thread takes the granules as a block, all of them for the whole pool.  So a thread
 * that is stopped there retains the free memory that it took, and nothing else.
 */
#ifndef CORE_POOL_H
#define CORE_POOL_H

#include "arena/arena.h"
#include "small/place.h"

#define POOL_BYTES  PLACE_BYTES
#define POOL_LEVELS 3
#define POOL_BASE   ((uintptr_t)POOL_BYTES)
#define POOL_KEEP   ((size_t)256 << 10)
#define POOL_PURGE  ((size_t)128 << 10)

/* Values of pool.memory that are no address. */
enum { POOL_NONE, POOL_CHANGING };

struct pool {
	uintptr_t memory;
	struct pool *next;
	uintptr_t high; /* granules from this one on read zero: no block has had them since the memory came or was purged */
	size_t seen;	/* hint: a word of the arena that had a block */
	size_t lane;	/* hint: the last lane whose current pool this became */
	unsigned level;
	uint16_t near[ARENA_WORD]; /* hints, by number of granules: the word where such a block was last released or found */
	struct arena arena;
};

/* Returns the number of bits by which the arena's addresses and sizes are shifted. */
static inline unsigned pool_shift(unsigned level)
{
	return 4 * level;
}

/* Returns the bytes of a granule. */
static inline size_t pool_granule(unsigned level)
{
	return GRANULE << pool_shift(level);
}

/* Returns the level for such blocks, or POOL_LEVELS if they are too large. */
static inline unsigned pool_level(size_t size, size_t alignment)
{
	unsigned level = 0;

	while (level < POOL_LEVELS && (size > SUMMARY_MOST * pool_granule(level) || alignment > GRANULE * pool_granule(level)))
		level++;
	return level;
}

/* Return an address in the pool's memory, and a number of bytes, as the pool's arena counts them. */
static inline char *pool_inside(const struct pool *q, const void *p)
{
	return (char *)(POOL_BASE + (((uintptr_t)p & (POOL_BYTES - 1)) >> pool_shift(q->level))); /* NOLINT: an address */
}

static inline size_t pool_size_inside(const struct pool *q, size_t bytes)
{
	return (bytes + ((size_t)1 << pool_shift(q->level)) - 1) >> pool_shift(q->level);
}

/* Returns false if no granule begins at p. */
static inline bool pool_is_start(const struct pool *q, const void *p)
{
	return ((uintptr_t)p & (pool_granule(q->level) - 1)) == 0;
}

/* Returns the address where a granule begins; the pool has memory, and keeps it. */
static inline char *pool_outside(const struct pool *q, size_t granule)
{
	/* Relaxed: the caller's granule was taken when the memory was there. */
	return (char *)load_relaxed(&q->memory) + granule * pool_granule(q->level); /* NOLINT: an address */
}

static inline bool pool_has_memory(const struct pool *q)
{
	return load_acquire(&q->memory) > POOL_CHANGING; /* pairs with pool_map */
}

/* Return the first pool of a level, and the next pool; NULL ends the list. */
INTERNAL struct pool *pool_first(unsigned level);
static inline struct pool *pool_next(const struct pool *q)
{
	return load_dependent(&q->next); /* pairs with pool_make */
}

/* Allocates a block; returns NULL if there is no memory. */
INTERNAL void *pool_alloc(unsigned level, size_t size, size_t alignment, bool zero);
/* Returns the bytes of the block at p, or 0 if p is not a block. */
INTERNAL size_t pool_bytes(const struct pool *q, const void *p);
/* Changes the size of the block at p in place; returns false if that is not possible. */
INTERNAL bool pool_fit(struct pool *q, void *p, size_t size);
/* Releases the block at p; returns false if p is not a block. */
INTERNAL bool pool_release(struct pool *q, void *p);

/* A function like pages_written; NULL if the number need not be known. */
typedef size_t pool_count(void *p, size_t bytes, enum sharing sharing);
/*
 * Gives the whole pages of these granules back, if all the granules are free.  Returns the result of `count`
 * for the pages before.
 */
INTERNAL size_t pool_purge(struct pool *q, size_t first, size_t n, pool_count *count);
/* Returns true if a lane allocates from the pool.  A hint, because that changes at any time. */
INTERNAL bool pool_is_current(const struct pool *q);
/* Unmaps the memory of an empty pool; returns false if the pool is not empty, or the system refuses. */
INTERNAL bool pool_return(struct pool *q);
/* Calls pool_return for all pools; returns false if no pool was returned. */
INTERNAL bool pool_return_all(void);

#endif
