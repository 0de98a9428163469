/* SPDX-License-Identifier: MIT */
/*
 * The summary of an arena's words, by which a search finds the lowest run that is long
 * enough without reading the words below it.  It lies behind the words, in groups: a group is
 * a CPU word of bytes (8; of 32 bits: 4).  Byte i stands for group i + 1, and from `leaves` on
 * bytes, the leaves, stand for the words of the bitmap:
 *
 *   group 0        [ 0 1 2 3 4 5 6 7 ]
 *                    |  \
 *   groups 1 ...   [ 8 ... 15 ]  [ 16 ... 23 ]  ...
 *                     .  .  .
 *   the last       [ w0 ... w7 ] [ w8 ... w15 ] ...          leaves
 *
 *   words            w0  w1  w2 ...
 *
 * A byte is a promise of at most so many granules, up to 127, which count for any number:
 *
 *   a leaf           not less than the length of each free run that begins in its word (I14)
 *   any other byte   not less than each byte of its group
 *
 * The words are authoritative.  The bytes can be found again from them, and are of no other use:
 *
 *   taking     first raises the leaf where the rest of the run will begin; a promise may be too large
 *   releasing  raises, behind the change of words, the leaf where the run begins now, and what is above
 *   searching  lowers a byte when it saw that the promise does not hold, and looks again behind
 *              that: if it holds now, the byte gets 127
 *
 * A promise that is too large costs time, once.  One that is too small hides memory, but only
 * while the call is under way that will raise it: `changing` counts these calls, also one that was
 * interrupted, or killed there for ever.  While it is not 0, a search that finds nothing
 * reads all words.
 */
#ifndef CORE_SUMMARY_H
#define CORE_SUMMARY_H

#include "arena/arena.h"

#define SUMMARY_FAN  sizeof(uintptr_t) /* bytes of a group */
#define SUMMARY_MOST ((size_t)127)     /* bit 7 of each byte is for comparisons */

/* The bytes that are not leaves, for so many words. */
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

/* Around the release of memory, or the lowering of a byte, until all bytes keep their promise again. */
static inline void summary_enter(struct arena *a)
{
	(void)fetch_add_seq_cst(&a->changing, 1);
}

static inline void summary_leave(struct arena *a)
{
	(void)fetch_add_seq_cst(&a->changing, (uintptr_t)-1);
}

/*
 * The first word at or behind byte i (0: of all) with a promise of n granules, n at most
 * SUMMARY_MOST; BITS_NONE: none.
 */
INTERNAL size_t summary_find(struct arena *a, size_t i, size_t n);
/* The lowest run of n granules, at most SUMMARY_MOST, that begins in the word; BITS_NONE: none. */
INTERNAL size_t summary_run(const struct arena *a, size_t w, size_t n);
/* The word's promise becomes what its longest run is, if it is larger. */
INTERNAL void summary_lower(struct arena *a, size_t w);
/* A run is about to be taken up to this granule. */
INTERNAL void summary_taking(struct arena *a, size_t end);
/* The granules [first, end) were released. */
INTERNAL void summary_released(struct arena *a, size_t first, size_t end);
/* A run of n granules begins in the word. */
INTERNAL void summary_raise(struct arena *a, size_t w, size_t n);

#endif
