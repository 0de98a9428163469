/* SPDX-License-Identifier: MIT */
#include "sample/sampler.h"

#include "ashlar_sample.h"
#include "thread/seat.h"

INTERNAL THREAD_LOCAL struct sampler sampler;

static uint64_t sample_distance = ASH_SAMPLE_DISTANCE;
static uint64_t sample_threads; /* threads that have begun */

#define DISTANCE_NONE ((uint64_t)1 << 20) /* bytes between looks while the distance is 0 */
#define DISTANCE_MOST ((uint64_t)1 << 40)

/* Default hooks, for programs that define no hooks. */
__attribute__((weak)) void ash_on_sample(void *p, size_t size)
{
	(void)p, (void)size;
}

__attribute__((weak)) void ash_on_sample_release(void *p)
{
	(void)p;
}

/* Returns the next number of the sequence splitmix64. */
static uint64_t sample_random(void)
{
	uint64_t n = sampler.random += 0x9E3779B97F4A7C15;

	n = (n ^ (n >> 30)) * 0xBF58476D1CE4E5B9;
	n = (n ^ (n >> 27)) * 0x94D049BB133111EB;
	return n ^ (n >> 31);
}

/* Returns -log2 of a random number between 0 and 1, times 2^16. */
static uint64_t sample_log(void)
{
	uint64_t n = sample_random() | 1, log = 0;
	unsigned zeros = 63 - bits_highest(n), i;

	/* n is 2^(63 - zeros) * x, x from 1 to 2: x squared is 2 or more if log2 of x begins with a 1. */
	n = n << zeros >> 32;
	for (i = 0; i < 16; i++) {
		n = n * n >> 31;
		log = log * 2 + (n >> 32);
		n >>= n >> 32;
	}
	return ((uint64_t)(zeros + 1) << 16) - log;
}

/* Draws an exponential distance: each byte is sampled with one probability. */
static int64_t sample_gap(void)
{
	static const uint64_t ln2 = 0xB17217F8; /* times 2^32 */
	uint64_t distance = load_relaxed(&sample_distance);

	if (distance == 0)
		return DISTANCE_NONE;
	return (int64_t)((unsigned __int128)distance * sample_log() * ln2 >> 48);
}

static void sample_begin(void)
{
	/* The number publishes nothing, so the addition needs no order. */
	sampler.random = (fetch_add_relaxed(&sample_threads, 1) + 1) * 0xD1342543DE82EF95;
	sampler.left = sample_gap();
}

bool sample_is_due(size_t bytes)
{
	if (seat_is_missing(seat.self))
		return false; /* thread-local words must not be written yet (prereloc.h) */
	if (sampler.random == 0)
		sample_begin();
	return sample_counts(bytes);
}

void sample_take(void *p, size_t bytes)
{
	/* Until the hook returns no block is a sample, neither blocks of the hook nor those of a handler. */
	sampler.left = INT64_MAX;
	signal_fence();
	if (load_relaxed(&sample_distance) != 0)
		ash_on_sample(p, bytes);
	signal_fence();
	sampler.left = sample_gap();
}

void sample_gone(void *p)
{
	ash_on_sample_release(p);
}

void ash_sample_every(size_t distance)
{
	store_relaxed(&sample_distance, distance < DISTANCE_MOST ? distance : DISTANCE_MOST);
	if (sampler.random == 0)
		sample_begin();
	sampler.left = sample_gap();
}
