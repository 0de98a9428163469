/* SPDX-License-Identifier: MIT */
/*
 * libashlar-small.a: a pool is 2 MiB of memory with an arena of its own (arena/arena.h), whose record lies apart and is
 * never unmapped.  There are three levels of them, by the arena's granule, so that a block has 127 granules at most:
 * what the arena's summary counts, and each search is short.
 *
 *	level   granule   blocks up to   alignments up to
 *	0           16          2 032                256
 *	1          256         32 512              4 096
 *	2        4 096        520 192             65 536     larger ones: large.h
 *
 * An arena counts granules of 16 bytes.  So it is told addresses inside its pool, from POOL_BASE on, that are divided
 * by 1, 16 or 256 (pool_inside); no arena reads memory there.
 *
 * Threads are spread over lanes by where their stacks are.  A lane has a pool of each level from which it allocates,
 * its current one.  If that has no room, the first pool in the list that has some and is no other lane's becomes it,
 * then a new one, and at last any pool.
 *
 * Memory goes back when a release leaves its pool empty: of a lane's current pool what is above POOL_KEEP, if that was
 * used; of another one all, its addresses too.  There the pages of blocks of POOL_PURGE bytes and more go with each release.
 *
 * To give memory back a thread takes the granules as a block, all of them for the whole.  So a thread that is stopped
 * there retains what was free, and nothing else.
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

/* pool.memory, where it is no address. */
enum { POOL_NONE, POOL_CHANGING };

struct pool {
	uintptr_t memory;
	struct pool *next;
	uintptr_t high; /* granules from here on read zero: none was in a block since the memory came or was purged */
	size_t seen;	/* a word of the arena in which a block was; a hint */
	size_t lane;	/* the last one whose current pool it became; a hint */
	unsigned level;
	uint16_t near[ARENA_WORD]; /* by granules: the word where such a block was released or found last; hints */
	struct arena arena;
};

/* Bytes of a granule. */
static inline size_t pool_granule(unsigned level)
{
	return GRANULE << 4 * level;
}

/* The level for such blocks; POOL_LEVELS: none. */
static inline unsigned pool_level(size_t size, size_t alignment)
{
	unsigned level = 0;

	while (level < POOL_LEVELS && (size > SUMMARY_MOST * pool_granule(level) || alignment > GRANULE * pool_granule(level)))
		level++;
	return level;
}

/* An address in the pool's memory, and a number of bytes, as its arena counts them. */
static inline char *pool_inside(const struct pool *q, const void *p)
{
	return (char *)(POOL_BASE + ((uintptr_t)p & (POOL_BYTES - 1)) / (pool_granule(q->level) / GRANULE)); /* NOLINT: an address */
}

static inline size_t pool_size_inside(const struct pool *q, size_t bytes)
{
	return (bytes + pool_granule(q->level) / GRANULE - 1) / (pool_granule(q->level) / GRANULE);
}

/* False: no granule begins there. */
static inline bool pool_is_start(const struct pool *q, const void *p)
{
	return ((uintptr_t)p & (pool_granule(q->level) - 1)) == 0;
}

/* Where a granule begins; the pool has memory, and keeps it. */
static inline char *pool_outside(const struct pool *q, size_t granule)
{
	/* Relaxed: the caller's granule was taken when the memory was there. */
	return (char *)load_relaxed(&q->memory) + granule * pool_granule(q->level); /* NOLINT: an address */
}

static inline bool pool_has_memory(const struct pool *q)
{
	return load_acquire(&q->memory) > POOL_CHANGING; /* pairs with pool_map */
}

/* The first pool of a level, and those behind it.  NULL: none. */
INTERNAL struct pool *pool_first(unsigned level);
static inline struct pool *pool_next(const struct pool *q)
{
	return load_dependent(&q->next); /* pairs with pool_make */
}

/* NULL: no memory. */
INTERNAL void *pool_alloc(unsigned level, size_t size, size_t alignment, bool zero);
/* Bytes of the block at p; 0: there is none. */
INTERNAL size_t pool_bytes(const struct pool *q, const void *p);
/* Changes the size of the block at p in place; false: not possible. */
INTERNAL bool pool_fit(struct pool *q, void *p, size_t size);
/* False: p is no block. */
INTERNAL bool pool_release(struct pool *q, void *p);

/* As pages_written; NULL: it need not be known. */
typedef size_t pool_count(void *p, size_t bytes, enum sharing sharing);
/* Gives the whole pages of these granules back, if all of them are free.  Returns what `count` says of them before. */
INTERNAL size_t pool_purge(struct pool *q, size_t first, size_t n, pool_count *count);
/* True: a lane allocates from it.  A hint, as that changes at any time. */
INTERNAL bool pool_is_current(const struct pool *q);
/* Unmaps the memory of a pool that is empty; false: it is not, or the system refuses. */
INTERNAL bool pool_return(struct pool *q);
/* The same for all pools.  False: none. */
INTERNAL bool pool_return_all(void);

#endif
