/* SPDX-License-Identifier: MIT */
/*
 * One-thread forms of the atomic operations (ASHLAR_SINGLE_THREAD), of relaxed order.  They
 * are atomic with regard to a signal handler of the same thread: an exception ends a
 * reservation, so that the conditional store fails and the loop begins again.
 */
#ifndef ARCH_GENERIC_ATOMIC_ST_H
#define ARCH_GENERIC_ATOMIC_ST_H

#include <stdbool.h>
#include <stdint.h>

#define ST_FENCE() __asm__ volatile("" ::: "memory") /* for the compiler only */

static inline bool st_cas(uint64_t *word, uint64_t *expected, uint64_t desired)
{
	bool done;

	ST_FENCE();
	done = __atomic_compare_exchange_n(word, expected, desired, false, __ATOMIC_RELAXED,
					   __ATOMIC_RELAXED);
	ST_FENCE();
	return done;
}

/* Sets bit n of an array of words; returns its previous value. */
static inline bool st_set_bit(uint64_t *words, uint64_t n)
{
	uint64_t was;

	ST_FENCE();
	was = __atomic_fetch_or(&words[n / 64], (uint64_t)1 << (n % 64), __ATOMIC_RELAXED);
	ST_FENCE();
	return (was >> (n % 64)) & 1;
}

#endif
