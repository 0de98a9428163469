/* SPDX-License-Identifier: MIT */
/* Arithmetic on bitmap words. */
#ifndef CORE_BITS_H
#define CORE_BITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "build.h"
#include "cpu.h"
#include "internal.h"

#define likely(x)   __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

/* Aligns a fast path to a cache line, which saves a tenth of its time (measured). */
#define FAST __attribute__((aligned(CPU_LINE)))

/* A slow path: out of line and built for size. */
#ifdef __clang__
#define SLOW __attribute__((noinline, minsize))
#define SLOW_PART inline __attribute__((always_inline, minsize)) /* for slow paths: callees are not inlined for speed */
#else
#define SLOW __attribute__((noinline))
#define SLOW_PART inline __attribute__((always_inline))
#endif

/* Inlined even at -Oz, so that results stay in registers. */
#define ALWAYS_INLINE inline __attribute__((always_inline))

#define BITS_NONE SIZE_MAX
#define BITS_ALL  (~(uint64_t)0)

/* Returns true if n is a power of two (not by n & (n - 1), which compilers turn into popcnt). */
static inline bool bits_is_power(size_t n)
{
	return (n ^ (n - 1)) > n - 1;
}

/* Returns the lowest set bit; the word must not be 0. */
static inline unsigned bits_lowest(unsigned long word)
{
	return (unsigned)cpu_lowest_bit(word);
}

static inline unsigned bits_highest(unsigned long word)
{
	return (unsigned)sizeof word * 8 - 1 - (unsigned)__builtin_clzl(word);
}

/*
 * Returns a set bit: the next from a random place on (random: 0 to 63), which is not above the highest set
 * bit.  The word must not be 0.
 */
static ALWAYS_INLINE unsigned bits_any(uint64_t word, unsigned random)
{
	unsigned from = random * (bits_highest((unsigned long)word) + 1) / 64;

	return bits_lowest((unsigned long)(word >> from)) + from;
}

static inline uint64_t bits_without_lowest(uint64_t word)
{
	return word & (word - 1);
}

/* Returns `n` set bits from `first` on; n from 1 to 64 - first. */
static inline uint64_t bits_run(unsigned first, unsigned n)
{
	return (~(uint64_t)0 >> (64 - n)) << first;
}

/* Returns the lowest n bits, n from 0 to 63. */
static inline uint64_t bits_below(unsigned n)
{
	return ((uint64_t)1 << n) - 1;
}

/* For slow paths only: it is short, and does without popcnt, which the oldest x86-64 lacks. */
INTERNAL unsigned bits_count(uint64_t x);

/*
 * Returns the starts of the runs of n set bits in a word, n from 1 to 65: the word ANDed with itself shifted
 * by 1 ... n - 1, here by halves.
 */
static ALWAYS_INLINE uint64_t bits_starts(uint64_t word, unsigned n)
{
	for (; n > 1; n -= n / 2)
		word &= word >> n / 2;
	return word;
}

/* Returns the length of the longest run of set bits in a word. */
static inline unsigned bits_longest(uint64_t word)
{
	unsigned n = 0;

	for (; word != 0; n++)
		word &= word >> 1;
	return n;
}

/* Returns the number of words that hold `n` bits. */
static inline size_t bits_words(size_t n)
{
	return (n + 63) / 64;
}

/*
 * Runs in bitmaps of many words that other threads change concurrently.  Lock-free: a failed compare-and-swap
 * means that another thread made progress.
 */

/*
 * Returns the lowest run of n set bits whose start is `offset` modulo `alignment` (a power of two), or
 * BITS_NONE.
 */
INTERNAL size_t bits_find(const uint64_t *words, size_t size, size_t n, size_t alignment, size_t offset);
/* Claims the run (clears its bits), all or nothing. */
INTERNAL bool bits_claim(uint64_t *words, size_t first, size_t n);
/* Sets the bits again, with release order. */
INTERNAL void bits_release(uint64_t *words, size_t first, size_t n);
/* Clears bits unconditionally; for hints only. */
INTERNAL void bits_clear(uint64_t *words, size_t first, size_t n);
/* Returns the number of the n bits that are not set.  Acquire order. */
INTERNAL size_t bits_unset(const uint64_t *words, size_t first, size_t n);

/* Returns true if all n bits are set.  Acquire order. */
INTERNAL bool bits_all(const uint64_t *words, size_t first, size_t n);

#endif
