/* SPDX-License-Identifier: MIT */
/*
 * An arena: a heap inside memory that the caller provides.  A granule is its unit of allocation, 16 bytes.
 *
 *   memory                                                            memory + bytes
 *     |..| struct arena | word | word | .... | summary | granule | granule | .... |..|
 *                       one for 32 granules    see below
 *
 * A word has two bits for each granule, so that one compare-and-swap changes both (on a CPU with words of 32
 * bits a word is for 16 granules):
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
 * A block is a FIRST and the FURTHERs behind it.  The granule behind a block is never a FURTHER of another
 * run, at any instant, because
 *
 *   taking     proceeds upwards: HELD with the FURTHERs of its word, then the words
 *              above, and last HELD becomes FIRST
 *   releasing  changes FIRST to HELD, then proceeds downwards, HELD last
 *   resizing   takes or releases in these orders behind a FIRST
 *
 * and granules that lie in one word change at once.  So a FURTHER never follows a free granule (I11), every
 * length is exact, and one thread wins the change of FIRST to HELD: only this thread may release the block.
 * A thread that is stopped on the way retains its run and nothing else.
 */
#ifndef CORE_ARENA_H
#define CORE_ARENA_H

#include "ashlar_descriptor.h"
#include "ashlar_heap.h"
#include "atomic.h"
#include "base/bits.h"
#include "base/misuse.h"
#include "pages.h"

#define GRANULE	   ((size_t)16)
#define ARENA_WORD ((unsigned)sizeof(uintptr_t) * 4) /* granules of a word */
#define ARENA_BODY (~(uintptr_t)0 >> ARENA_WORD)

/* Least bytes of memory of an arena of the list (arena_list.c). */
#define ARENA_MIN ((size_t)64 << 10)

struct arena {
	char *base; /* address of granule 0                   */
	size_t granules;
	size_t word_count;
	uintptr_t id;	      /* 0: see arena_list.c             */
	enum sharing sharing; /* PAGES_CALLERS                   */
	uintptr_t root;
	uintptr_t memory; /* as the caller gave it; identifies the arena */
	size_t leaves;	  /* index of the summary's byte for word 0 */

	_Alignas(CPU_LINE) uintptr_t changing; /* number of calls between summary_enter and summary_leave */
	_Alignas(CPU_LINE) uintptr_t words[];
};

/* Returns true if an arena of at least so many bytes may be made in the memory. */
static inline bool arena_fits(const void *memory, size_t bytes, size_t least)
{
	return memory != NULL && bytes >= least && bytes <= PTRDIFF_MAX &&
	       (uintptr_t)memory <= UINTPTR_MAX - bytes;
}

/* Returns n granules of a word from `first` on, as body bits. */
static inline uintptr_t arena_run(unsigned first, unsigned n)
{
	return ARENA_BODY >> (ARENA_WORD - n) << first;
}

/* Return the granules of a word that are free, FIRST, HELD, FURTHER: a bit each, in the lower half. */
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

/* Returns the record of the arena in the caller's memory, which begins at this address. */
static inline struct arena *arena_in(uintptr_t memory)
{
	return (struct arena *)(uintptr_t)((memory + CPU_LINE - 1) & ~(uintptr_t)(CPU_LINE - 1));
}

/* Returns the number of words that the granules need. */
static inline size_t arena_words(size_t granules)
{
	return (granules + ARENA_WORD - 1) / ARENA_WORD;
}

/* Returns the granule that begins the run to which this granule belongs. */
INTERNAL size_t arena_begin(const struct arena *a, size_t at);

/* Returns the number of granules of the run that begins at `first`. */
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

/* Returns the bytes of the block at p, or 0 if p is not a block. */
INTERNAL size_t arena_bytes(const struct arena *a, const void *p);

/* Divides the memory [begin, end), in which a begins, into record, words and granules. */
INTERNAL void arena_set_up(struct arena *a, uintptr_t begin, uintptr_t end);

/* ---- arena_summary.c ---- */

/*
 * The summary of an arena's words, by which a search finds the lowest run that is long enough without reading
 * the words below it.  The summary lies behind the words, in groups: a group is a CPU word of bytes (8; 4 on
 * 32 bits).  Byte i stands for group i + 1.  From `leaves` on bytes, which are the leaves, stand for the
 * words of the bitmap:
 *
 *   group 0        [ 0 1 2 3 4 5 6 7 ]
 *                    |  \
 *   groups 1 ...   [ 8 ... 15 ]  [ 16 ... 23 ]  ...
 *                     .  .  .
 *   the last       [ w0 ... w7 ] [ w8 ... w15 ] ...          leaves
 *
 *   words            w0  w1  w2 ...
 *
 * A byte promises a number of granules, at most 127, which stands for any larger number, too:
 *
 *   a leaf           not less than the length of each free run that begins in its word (I14)
 *   any other byte   not less than each byte of its group
 *
 * The words are authoritative.  The bytes can be computed from the words, and have no other use:
 *
 *   taking     first raises the leaf where the rest of the run will begin; a promise may be too large
 *   releasing  raises, after the change of words, the leaf where the run begins now, and the bytes above
 *   searching  lowers a byte when it saw that the promise does not hold, and looks again after
 *              that: if the promise holds now, the byte gets 127
 *
 * A promise that is too large costs time, once.  A promise that is too small hides memory, but only while the
 * call is under way that will raise it.  `changing` counts these calls, also a call that was interrupted, or
 * killed there for ever.  While `changing` is not 0, a search that finds nothing reads all words.
 */

#define SUMMARY_FAN  sizeof(uintptr_t) /* bytes of a group */
#define SUMMARY_MOST ((size_t)127)     /* bit 7 of each byte is for comparisons */

/* Returns the number of bytes that are not leaves, for this number of words. */
static inline size_t summary_leaves(size_t word_count)
{
	size_t groups = 0, leaves = SUMMARY_FAN;

	for (; leaves < word_count; leaves *= SUMMARY_FAN)
		groups = groups * SUMMARY_FAN + 1;
	return groups * SUMMARY_FAN;
}

static inline size_t summary_groups(size_t word_count)
{
	return (summary_leaves(word_count) + word_count + SUMMARY_FAN - 1) / SUMMARY_FAN;
}

/*
 * Called around the release of memory, or the lowering of a byte, until all bytes keep their promise again.
 */
static inline void summary_enter(struct arena *a)
{
	(void)fetch_add_seq_cst(&a->changing, 1);
}

static inline void summary_leave(struct arena *a)
{
	(void)fetch_add_seq_cst(&a->changing, (uintptr_t)-1);
}

/*
 * Returns the first word at or behind byte i (0: of all words) with a promise of n granules, n at most
 * SUMMARY_MOST, or BITS_NONE.
 */
INTERNAL size_t summary_find(struct arena *a, size_t i, size_t n);
/* Returns the lowest run of n granules, at most SUMMARY_MOST, that begins in the word, or BITS_NONE. */
INTERNAL size_t summary_run(const struct arena *a, size_t w, size_t n);
/* Lowers the word's promise to the length of its longest run, if the promise is larger. */
INTERNAL void summary_lower(struct arena *a, size_t w);
/* Called before a run up to this granule is taken. */
INTERNAL void summary_taking(struct arena *a, size_t end);
/* Called after the granules [first, end) were released. */
INTERNAL void summary_released(struct arena *a, size_t first, size_t end);
/* Raises the word's promise for a run of n granules that begins in the word. */
INTERNAL void summary_raise(struct arena *a, size_t w, size_t n);

/* ---- arena_alloc.c ---- */

/*
 * Allocates a block; `alignment` is a power of two.  Returns NULL if no run of free granules is long enough.
 */
INTERNAL void *arena_alloc(struct arena *a, size_t size, size_t alignment);
/* Takes these granules as a block; all or nothing. */
INTERNAL bool arena_take(struct arena *a, size_t first, size_t n);
/*
 * Takes n granules of word w as a block, without a search.  Returns the first granule, or BITS_NONE if that
 * is not possible.  Leaves the summary as it is: its promise may be too large.
 */
INTERNAL size_t arena_take_near(struct arena *a, size_t w, size_t n);
/* Releases the block at p.  Returns the block's number of granules, or 0 if p is not a block. */
INTERNAL size_t arena_release(struct arena *a, void *p);

/* The rest is for resizing. */

static inline size_t granules_for(size_t size)
{
	return size <= GRANULE ? 1 : (size + GRANULE - 1) / GRANULE;
}

/*
 * Frees a run that the caller holds, from its upper end downwards, so that a FURTHER granule never follows a
 * free granule.
 */
INTERNAL void run_give(struct arena *a, size_t first, size_t n);
/* Takes n granules as FURTHERs of the block that ends before them; all or nothing. */
INTERNAL bool run_extend(struct arena *a, size_t first, size_t n);

/* ---- arena_list.c ---- */

/*
 * The list of the arenas of this process.  The list is not kept in the memory of the arenas, because
 * processes that have other lists may share that memory.
 */

/* Readers outside the process find the list by this. */
INTERNAL_EXTERN const struct ash_arenas arenas_descriptor;

struct chunk;

/*
 * Reserves an entry for an arena in the memory [begin, end).  Returns ASH_HEAPS_IN_MAX if no entry is unused,
 * or the memory overlaps that of another arena.
 */
INTERNAL uint64_t arenas_reserve(uint64_t begin, uint64_t end);
/* Publishes the arena of this entry, which is set up: look-ups find the arena from now on. */
INTERNAL void arenas_publish(uint64_t i, const struct arena *a);

/* Returns the arena that has this granule, the innermost if there are several, or NULL. */
INTERNAL struct arena *arenas_find(const void *p);
/* Like arenas_find, where p may also lie in the arena's own records. */
INTERNAL struct arena *arenas_around(const void *p);
/* Removes the arena, and the arenas in its memory.  Returns false if the arena is not in the list. */
INTERNAL bool arenas_leave(const void *a);

/* The entries of the list that were ever used. */
INTERNAL_EXTERN uint64_t arenas_used;

/* Removes the arenas in this memory, which is about to be reused. */
#if IS_FIELD || IS_SMALL
#define arenas_gone(from, bytes) ((void)0) /* there is no list */
#else
INTERNAL void arenas_gone(const void *from, size_t bytes);
#endif
/* Removes the arenas in the block at p, if there is one, which is about to be released or resized. */
INTERNAL void arenas_gone_with(const struct chunk *c, const void *p);

#endif
