/* SPDX-License-Identifier: MIT */
/* A heap shared by processes, with its insides, for tests of these. */
#ifndef TESTS_STORE_INNER_SHARED_H
#define TESTS_STORE_INNER_SHARED_H

#include "ashlar_heap.h"
#include "heaps/instance.h"
#include "store/process/life.h"
#include "rt.h"
#include "store/file/store.h"
#include "heaps/seats.h"

static ash_heap *heap;
static struct heap *h UNUSED;
static struct store *store UNUSED;

static inline void shared_make(size_t capacity)
{
	heap = NOT_NULL(ash_heap_create_shared(capacity, NULL));
	h = heap_of(heap);
	store = store_of(h);
}

/* The calling thread's record. */
static inline struct owner *shared_record(ash_heap *of)
{
	struct seats_call call = seats_enter(heap_of(of));

	seats_exit(call);
	return NOT_NULL(call.owner);
}

static inline void needs_lives(void)
{
	if (life_of_thread() >> 22 == 0)
		rt_skip("lives of ended threads cannot be judged without /proc");
}

#endif
