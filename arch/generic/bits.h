/* SPDX-License-Identifier: MIT */
/* Bit operations of CPUs that work on registers only. */
#ifndef ARCH_GENERIC_BITS_H
#define ARCH_GENERIC_BITS_H

#include <stdbool.h>
#include <stdint.h>

/* *word, which the caller has just loaded, &= mask. */
static inline void cpu_and(uint64_t *word, uint64_t loaded, uint64_t mask)
{
	__atomic_store_n(word, loaded & mask, __ATOMIC_RELAXED);
}

/* Sets bit n % 64 of the word; returns its previous value. */
static inline bool cpu_set_bit(uint64_t *word, uint64_t n)
{
	uint64_t bit = (uint64_t)1 << (n % 64), old = *word;

	*word = old | bit;
	return (old & bit) != 0;
}

/* Returns whether n, by its low half, is above a word, or by 16 bits below a word. */
static inline bool cpu_is_above(uint64_t n, const uint32_t *word)
{
	return (uint32_t)n > *word;
}

static inline bool cpu_is_below(uint64_t n, const uint16_t *word)
{
	return (uint16_t)n < *word;
}

/* Sets bit n of an array of words atomically for all threads; returns its previous value. */
static inline bool cpu_set_bit_locked(uint64_t *words, uint64_t n)
{
	uint64_t bit = (uint64_t)1 << (n % 64);

	return (__atomic_fetch_or(&words[n / 64], bit, __ATOMIC_SEQ_CST) & bit) != 0;
}

#endif
