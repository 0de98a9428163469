/* SPDX-License-Identifier: MIT */
/*
 * An arena: a heap inside memory that the caller provides.  A granule is its unit of
 * allocation, 16 bytes.
 *
 *   memory                                                            memory + bytes
 *     |..| struct arena | word | word | .... | summary | granule | granule | .... |..|
 *                       one for 32 granules    summary.h
 *
 * A word has two bits for each granule, so that one compare-and-swap changes both (on a CPU
 * with words of 32 bits it is for 16 granules):
 *
 *        63        32 31         0
 *       |   edge     |    body    |
 *
 *   body edge  the granule is
 *    0    0    free
 *    1    1    FIRST: a block begins
 *    1    0    FURTHER: continues the block, or the run, that begins below
 *    0    1    HELD: begins a run that is being taken or released right now; or
 *              lies beyond the end of the arena
 *
 * A block is a FIRST and the FURTHERs behind it.  The granule behind a block is never
 * a FURTHER of another run, at any instant, since
 *
 *   taking     proceeds upwards: HELD with the FURTHERs of its word, then the words
 *              above, and last HELD becomes FIRST
 *   releasing  changes FIRST to HELD, then proceeds downwards, HELD last
 *   resizing   does the same behind a FIRST
 *
 * and granules that lie in one word change at once.  So a FURTHER never follows a free
 * granule (I11), every length is exact, and one thread wins the change of FIRST to
 * HELD: the one that may release the block.  A thread that is stopped on the way
 * retains its run and nothing else.
 */
#ifndef CORE_ARENA_H
#define CORE_ARENA_H

#include "ashlar_heap.h"
#include "atomic.h"
#include "base/bits.h"
#include "base/misuse.h"
#include "pages.h"

#define GRANULE	   ((size_t)16)
#define ARENA_WORD ((unsigned)sizeof(uintptr_t) * 4) /* granules of a word */
#define ARENA_BODY (~(uintptr_t)0 >> ARENA_WORD)

/* Least bytes of memory, and whether the process has a list of its arenas (arenas.h). */
#define ARENA_MIN    ((size_t)(IS_FIELD ? 1 : 64) << 10)
#define ARENA_LISTED (!IS_FIELD)

struct arena {
	char *base; /* granule 0                              */
	size_t granules;
	size_t word_count;
	uintptr_t id;	      /* 0: see arenas.h                 */
	enum sharing sharing; /* PAGES_CALLERS: see arenas.h     */
	uintptr_t root;
	uintptr_t memory; /* as the caller gave it: identifies the arena */
	size_t leaves;	  /* the summary's byte for word 0: summary.h */

	_Alignas(CPU_LINE) uintptr_t changing; /* calls within summary_enter and _leave */
	_Alignas(CPU_LINE) uintptr_t words[];
};

/* True: an arena may be made in the memory. */
static inline bool arena_fits(const void *memory, size_t bytes)
{
	return memory != NULL && bytes >= ARENA_MIN && bytes <= PTRDIFF_MAX &&
	       (uintptr_t)memory <= UINTPTR_MAX - bytes;
}

/* A run of n granules of a word from `first` on, as body bits. */
static inline uintptr_t arena_run(unsigned first, unsigned n)
{
	return ARENA_BODY >> (ARENA_WORD - n) << first;
}

/* The granules of a word that are free, FIRST, HELD, FURTHER: a bit each, in the lower half. */
static inline uintptr_t arena_free(uintptr_t word)
{
	return ~(word | word >> ARENA_WORD) & ARENA_BODY;
}

static inline uintptr_t arena_first(uintptr_t word)
{
	return word & word >> ARENA_WORD;
}

static inline uintptr_t arena_held(uintptr_t word)
{
	return ~word & word >> ARENA_WORD;
}

static inline uintptr_t arena_further(uintptr_t word)
{
	return word & ~(word >> ARENA_WORD) & ARENA_BODY;
}

static inline bool arena_has(const struct arena *a, const void *p)
{
	return (uintptr_t)p - (uintptr_t)a->base < a->granules * GRANULE;
}

static inline size_t arena_index(const struct arena *a, const void *p)
{
	return ((uintptr_t)p - (uintptr_t)a->base) / GRANULE;
}

/* The record of the arena in the caller's memory, which begins at this address. */
static inline struct arena *arena_in(uintptr_t memory)
{
	return (struct arena *)(uintptr_t)((memory + CPU_LINE - 1) & ~(uintptr_t)(CPU_LINE - 1));
}

/* The number of words that the granules need. */
static inline size_t arena_words(size_t granules)
{
	return (granules + ARENA_WORD - 1) / ARENA_WORD;
}

/* The granule that begins the run to which this one belongs. */
INTERNAL size_t arena_begin(const struct arena *a, size_t at);

/* Granules from the one that begins a run to its end. */
static inline size_t arena_length(const struct arena *a, size_t first)
{
	size_t end = first + 1;

	while (end / ARENA_WORD < a->word_count) {
		unsigned low = (unsigned)(end % ARENA_WORD);
		uintptr_t word = load_acquire(&a->words[end / ARENA_WORD]); /* pairs with run_take */
		unsigned run = bits_lowest(~(arena_further(word) >> low));

		end += run;
		if (low + run < ARENA_WORD)
			break;
	}
	return end - first;
}

/* Bytes of the block at p; 0: there is none. */
INTERNAL size_t arena_bytes(const struct arena *a, const void *p);

#endif
