/* SPDX-License-Identifier: MIT */
/* Common parts of the tests of heaps in the caller's memory. */
#ifndef TESTS_SUPPORT_HEAP_IN_H
#define TESTS_SUPPORT_HEAP_IN_H

#include "ashlar_heap.h"
#include "rt.h"

/* The largest block that can be had. */
static inline size_t largest(ash_heap *h, size_t most)
{
	size_t low = 0, high = most;

	while (low < high) {
		size_t middle = (low + high + 1) / 2;
		void *p = ash_heap_alloc(h, middle);

		if (p == NULL) {
			high = middle - 1;
		} else {
			low = middle;
			ash_heap_release(h, p);
		}
	}
	return low;
}

static inline void nothing_left(ash_heap *h, size_t reserved)
{
	struct ash_statistics st;

	CHECK_EQ(ash_heap_check(h), 0);
	ash_heap_stats(h, &st);
	CHECK_EQ(st.blocks, 0);
	CHECK_EQ(st.block_bytes, 0);
	CHECK_EQ(st.reserved, reserved);
	CHECK_EQ(st.dirty, reserved);
}

/* For ash_heap_walk: counts the runs in flight, which have no owner yet or no longer. */
static inline int count_flight(void *context, UNUSED void *p, UNUSED size_t size,
			       const struct ash_heap_owner *owner)
{
	*(size_t *)context += owner->id == 0;
	return 0;
}

#endif
