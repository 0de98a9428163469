/* SPDX-License-Identifier: MIT */
/*
 * Blocks that show whether another thread wrote into them.  A stamp is a block's
 * address (of up to 49 bits) and a key of 18 bits in one word, so that it passes between threads
 * by one exchange; size and key stand in the block's first word, and all its
 * other words follow from that.
 */
#ifndef TESTS_SUPPORT_STAMP_H
#define TESTS_SUPPORT_STAMP_H

#include "ashlar.h"
#include "rt.h"

#define STAMP_SHIFT 46
#define STAMP_KEYS  ((uint64_t)1 << (64 - STAMP_SHIFT))

static inline void *stamp_block(uint64_t stamp)
{
	return (void *)(uintptr_t)((stamp & (((uint64_t)1 << STAMP_SHIFT) - 1)) << 3);
}

/* Words that are looked at: all of a small block, both ends and some of a large one. */
static inline size_t stamp_step(size_t words, size_t i)
{
	size_t step = words <= 8192 ? 32 : words / 32; /* few pages of a span */

	if (words <= 32 || i < 16 || i + 16 >= words)
		return 1;
	return i + step + 16 < words ? step : words - 16 - i;
}

/* Fills p (of at least 8 bytes). */
static inline uint64_t stamp_set(void *p, size_t size, uint64_t key)
{
	uint64_t *word = p, first = (uint64_t)size << 20 | (key %= STAMP_KEYS);
	size_t words = size / 8;

	word[0] = first;
	for (size_t i = 1; i < words; i += stamp_step(words, i))
		word[i] = (first + i) * 0x9e3779b97f4a7c15u;
	return (uintptr_t)p >> 3 | key << STAMP_SHIFT;
}

/* The first `bytes` of the block are as they were filled; its size then. */
static inline size_t stamp_size(uint64_t stamp)
{
	return *(uint64_t *)stamp_block(stamp) >> 20;
}

static inline void stamp_check_some(uint64_t stamp, size_t size, size_t bytes)
{
	const uint64_t *word = stamp_block(stamp);
	uint64_t first = (uint64_t)size << 20 | stamp >> STAMP_SHIFT;
	size_t words = size / 8;

	CHECK_EQ(word[0], first);
	for (size_t i = 1; i < bytes / 8; i += stamp_step(words, i))
		CHECK_EQ(word[i], (first + i) * 0x9e3779b97f4a7c15u);
}

static inline void stamp_check(uint64_t stamp)
{
	CHECK_EQ(*(uint64_t *)stamp_block(stamp) % STAMP_KEYS, stamp >> STAMP_SHIFT);
	stamp_check_some(stamp, stamp_size(stamp), stamp_size(stamp));
}

/* Of 8 bytes to 64 KiB, small ones more often; rarely a span, if wanted. */
static inline size_t stamp_random_size(struct rt_random *r, bool spans)
{
	if (spans && rt_below(r, 2000) == 0)
		return ((size_t)1 << 20) + 1 + rt_below(r, (size_t)4 << 20);
	return 8 + rt_below(r, (size_t)8 << rt_below(r, 14));
}

/* A fresh stamped block; sometimes one that must be zero. */
static inline uint64_t stamp_alloc(struct rt_random *r, bool spans)
{
	size_t size = stamp_random_size(r, spans);
	uint64_t random = rt_next(r);
	bool zero = random >> 62 == 0;
	uint64_t *p = zero ? ash_zalloc(1, size) : ash_alloc(size);

	CHECK(p != NULL);
	CHECK_EQ((uintptr_t)p % (size >= 16 ? 16 : 8), 0);
	if (zero)
		for (size_t i = 0; i < size / 8; i += stamp_step(size / 8, i))
			CHECK_EQ(p[i], 0);
	return stamp_set(p, size, random);
}

static inline void stamp_release(uint64_t stamp)
{
	stamp_check(stamp);
	ash_release(stamp_block(stamp));
}

static inline uint64_t stamp_resize(uint64_t stamp, size_t size, uint64_t key)
{
	size_t before = stamp_size(stamp);
	void *p;

	stamp_check(stamp);
	p = NOT_NULL(ash_resize(stamp_block(stamp), size));
	stamp_check_some((uintptr_t)p >> 3 | (stamp >> STAMP_SHIFT) << STAMP_SHIFT, before,
			 before < size ? before : size);
	return stamp_set(p, size, key);
}

/* After all is released: no block is left, and all agrees. */
static inline void stamp_check_nothing_left(void)
{
	struct ash_statistics st;

	CHECK_EQ(ash_check(), 0);
	ash_stats(&st);
	CHECK_EQ(st.blocks, 0);
	CHECK_EQ(st.block_bytes, 0);
	CHECK_EQ(st.spans, 0);
}

#endif
