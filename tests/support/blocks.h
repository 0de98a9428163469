/* SPDX-License-Identifier: MIT */
/* Many blocks at once, and a heap's figures as a value. */
#ifndef TESTS_SUPPORT_BLOCKS_H
#define TESTS_SUPPORT_BLOCKS_H

#include "ashlar_heap.h"
#include "rt.h"

/* list: of pointers of any type. */
static inline void alloc_each(void *list, size_t count, size_t size)
{
	for (size_t i = 0; i < count; i++) {
		void *p = NOT_NULL(ash_alloc(size));

		memcpy((char *)list + i * sizeof p, &p, sizeof p);
	}
}

static inline void release_each(const void *list, size_t count)
{
	void *p;

	for (size_t i = 0; i < count; i++) {
		memcpy(&p, (const char *)list + i * sizeof p, sizeof p);
		ash_release(p);
	}
}

static inline struct ash_statistics stats_now(void)
{
	struct ash_statistics st;

	ash_stats(&st);
	return st;
}

/* No peak is below the present value. */
static inline void peaks_hold(const struct ash_statistics *st)
{
	CHECK(st->peak_used >= st->slabs + st->spans);
	CHECK(st->peak_kept >= st->slabs + st->spans + st->dirty);
	CHECK(st->peak_reserved >= st->reserved);
}

/* All is released, and collected where it was released by others. */
static inline void nothing_is_left(void)
{
	CHECK_EQ(ash_check(), 0);
	CHECK_EQ(stats_now().blocks, 0);
	CHECK_EQ(stats_now().block_bytes, 0);
	CHECK_EQ(stats_now().pending, 0);
}

static inline struct ash_statistics stats_of(ash_heap *h)
{
	struct ash_statistics st;

	ash_heap_stats(h, &st);
	return st;
}

#endif
