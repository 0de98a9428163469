/* SPDX-License-Identifier: MIT */
/* Random numbers: xoroshiro128+ (Blackman, Vigna), fast and good enough for tests. */
#include "rt.h"

enum { FIXED_SEED = 20240607 };

static uint64_t rotate(uint64_t x, unsigned by)
{
	return x << by | x >> (64 - by);
}

/* splitmix64 (Steele, Lea, Flood; Vigna): makes a nonzero state from any seed, also 0. */
static uint64_t spread(uint64_t *seed)
{
	uint64_t z = *seed += 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

void rt_seed(struct rt_random *r, uint64_t seed)
{
	r->state[0] = spread(&seed);
	r->state[1] = spread(&seed);
}

uint64_t rt_next(struct rt_random *r)
{
	uint64_t a = r->state[0], b = r->state[1], result = a + b;

	b ^= a;
	r->state[0] = rotate(a, 24) ^ b ^ b << 16;
	r->state[1] = rotate(b, 37);
	return result;
}

/* The high half of a product (Lemire); the bias of bound / 2^64 is negligible. */
uint64_t rt_below(struct rt_random *r, uint64_t bound)
{
	return (uint64_t)((unsigned __int128)rt_next(r) * bound >> 64);
}

uint64_t rt_test_seed(void)
{
	const char *text = rt_getenv("RT_SEED");
	uint64_t seed = 0;

	if (text == NULL)
		return FIXED_SEED;
	for (; *text >= '0' && *text <= '9'; text++)
		seed = seed * 10 + (uint64_t)(*text - '0');
	return seed;
}
