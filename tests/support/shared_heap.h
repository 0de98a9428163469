/* SPDX-License-Identifier: MIT */
/*
 * Heaps that processes share, in tests of the allocator.  They are the store's (core/store), which a tree need not
 * have: tests/store has the tests of all else there.
 */
#ifndef SUPPORT_SHARED_HEAP_H
#define SUPPORT_SHARED_HEAP_H

#include "ashlar_heap.h"
#include "rt.h"

#pragma weak ash_heap_create_shared

static inline bool has_shared_heaps(void)
{
	return ash_heap_create_shared != NULL;
}

/* Skips the test if there are no such heaps. */
static inline ash_heap *shared_heap(size_t capacity)
{
	ash_heap *heap;

	if (!has_shared_heaps())
		rt_skip("no store in this tree");
	heap = ash_heap_create_shared(capacity, NULL);
	CHECK(heap != NULL);
	return heap;
}

#endif
