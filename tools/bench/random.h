/* SPDX-License-Identifier: MIT */
/* Random numbers for benchmarks: the same from the same seed, with every malloc. */
#ifndef BENCH_RANDOM_H
#define BENCH_RANDOM_H

#include <stdint.h>

/* Marsaglia's xorshift; *state is not 0. */
static inline uint64_t next_random(uint64_t *state)
{
	uint64_t x = *state;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	return *state = x;
}

#endif
