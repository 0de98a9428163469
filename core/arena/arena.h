/* SPDX-License-Identifier: MIT */
/*
 * A arena: a heap inside memory of the caller's.
 *
 *   memory                                                  memory + bytes
 *     |..| struct arena | word | word | .... | granule | granule | .... |..|
 *                       one for 32 granules    of 16 bytes
 *
 * A word has two bits for each granule, so that one swap changes both:
 *
 *        63        32 31         0
 *       |   edge     |    body    |
 *
 *   body edge  the granule is
 *    0    0    free
 *    1    1    FIRST: a block begins
 *    1    0    FURTHER: belongs to what begins below
 *    0    1    HELD: begins a run in flight, taken or given back right now; or
 *              lies beyond the end
 *
 * A block is a FIRST and the FURTHERs behind it.  At every instant what
 * stands behind a block is no FURTHER of somebody else's, since
 *
 *   taking    goes upwards:  HELD with the FURTHERs of its word, the words above,
 *             and last HELD becomes FIRST
 *   giving    FIRST becomes HELD, then goes downwards, HELD last
 *   resizing  does the same behind a FIRST
 *
 * and what lies in one word is one swap.  So a FURTHER never follows a free
 * granule (I11), every length is exact, and FIRST to HELD has one winner: the
 * one who may release.  Whoever is stopped on the way keeps his run and
 * nothing else.
 */
#ifndef CORE_FIELD_H
#define CORE_FIELD_H

#include "ashlar_heap.h"
#include "backend/heap.h"
#include "base/misuse.h"
#include "internal.h"

#define GRANULE     ((size_t)16)
#define ARENA_WORD  32u /* granules of a word */
#define ARENA_BODY  (~(uint64_t)0 >> ARENA_WORD)
#define ARENA_MIN   ((size_t)64 << 10)
#define ARENA_KINDS 11 /* of lengths: by powers of two, the last for all longer ones */

struct arena {
	char *base; /* granule 0                              */
	size_t granules;
	size_t word_count;
	uint64_t id;          /* 0, where struct heap has it: no heap that has seats */
	enum sharing sharing; /* PAGES_CALLERS, where struct heap has it          */
	uint64_t root;
	uintptr_t memory; /* as the caller gave it: the arena's key           */

	/* Hints, which all threads write. */
	_Alignas(CPU_LINE) uint64_t released; /* blocks so far, about          */
	struct arena_hint {
		uint64_t recent; /* 1 + word where one was released last; 0: none */
		uint64_t next;   /* word where to look on                     */
		uint64_t since;  /* released, when the search began from 0    */
	} hints[ARENA_KINDS];
	_Alignas(CPU_LINE) uint64_t words[];
};

_Static_assert(offsetof(struct arena, sharing) == offsetof(struct heap, sharing) &&
		       offsetof(struct arena, id) == offsetof(struct heap, id),
	       "one look tells arenas from other heaps");

/* The heap as a arena; NULL: it is another one. */
static inline struct arena *arena_of(ash_heap *heap)
{
	const char *at = (const char *)heap + offsetof(struct heap, sharing);
	/* Read as what it is in both structures. */
	enum sharing sharing = *(const enum sharing *)(const void *)at;

	if (likely(sharing < PAGES_CALLERS))
		return NULL;
	if (unlikely(sharing == PAGES_GONE))
		misuse_report(CALL_HEAP, heap, "heap already destroyed", 0);
	return (struct arena *)(void *)heap;
}

/* The granules of a word that are free, in the lower half. */
static inline uint64_t arena_free(uint64_t word)
{
	return ~(word | word >> ARENA_WORD) & ARENA_BODY;
}

static inline uint64_t arena_first(uint64_t word)
{
	return word & word >> ARENA_WORD;
}

static inline uint64_t arena_held(uint64_t word)
{
	return ~word & word >> ARENA_WORD;
}

static inline uint64_t arena_further(uint64_t word)
{
	return word & ~(word >> ARENA_WORD) & ARENA_BODY;
}

static inline bool arena_has(const struct arena *f, const void *p)
{
	return (uintptr_t)p - (uintptr_t)f->base < f->granules * GRANULE;
}

static inline size_t arena_index(const struct arena *f, const void *p)
{
	return ((uintptr_t)p - (uintptr_t)f->base) / GRANULE;
}

/* The granule that begins what this one belongs to. */
INTERNAL size_t arena_begin(const struct arena *f, size_t at);
/* Granules from the one that begins something to its end. */
INTERNAL size_t arena_length(const struct arena *f, size_t first);

/* NULL: no run of free granules is long enough.  alignment: a power of two. */
INTERNAL void *arena_alloc(struct arena *f, size_t size, size_t alignment);
/* False: p is not a block. */
INTERNAL bool arena_release(struct arena *f, void *p);
/* Of a block; size at most PTRDIFF_MAX. */
INTERNAL void *arena_resize(struct arena *f, void *p, size_t size);
/* Bytes of the block at p; 0: there is none. */
INTERNAL size_t arena_bytes(const struct arena *f, const void *p);

/* What the public calls of the same names tell. */
INTERNAL int arena_walk(struct arena *f,
			int (*see)(void *, void *, size_t, const struct ash_heap_owner *),
			void *context);
INTERNAL void arena_stats(struct arena *f, struct ash_stats *out);
INTERNAL int arena_check(const struct arena *f);

/* What is wrong with the pointer, which lies in the arena's memory. */
INTERNAL _Noreturn void arena_misuse(const struct arena *f, enum call call, const void *p);

/* ---- all arenas of this process (arenas.c) ---- */

/* The one that has this granule, the innermost of several; NULL: none. */
INTERNAL struct arena *arenas_find(const void *p);
/* The same, where records of a arena count, too. */
INTERNAL struct arena *arenas_around(const void *p);
/* Out of this process, with the arenas in its memory.  False: it is none of its arenas. */
INTERNAL bool arenas_leave(const void *f);

/* The memory becomes somebody else's: arenas in it are no more. */
INTERNAL void arenas_gone(const void *from, size_t bytes);
/* The same of a live block's, which is about to be released or resized; no block: nothing. */
INTERNAL void arenas_gone_with(const struct chunk *c, const void *p);

#endif
