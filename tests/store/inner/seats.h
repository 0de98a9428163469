/* SPDX-License-Identifier: MIT */
/* Heaps whose seats a test looks at, and threads' benches. */
#ifndef TESTS_STORE_INNER_SEATS_H
#define TESTS_STORE_INNER_SEATS_H

#include "heaps/instance.h"
#include "heaps/benches.h"
#include "heaps/seats.h"
#include "support/blocks.h"
#include "thread/seat.h"

static inline ash_heap *make(bool shared)
{
	return NOT_NULL(shared ? ash_heap_create_shared((size_t)4 << 20, NULL) : ash_heap_create(NULL));
}

static inline void use(ash_heap *heap)
{
	void *p = NOT_NULL(ash_heap_alloc(heap, 100));

	CHECK(map_find(p)->region->heap == heap_of(heap));
	ash_heap_release(heap, p);
}

/* The heap, and `count` others that have its place in the page, too. */
static inline void make_rivals(ash_heap **rival, unsigned count, bool shared)
{
	unsigned n = 1;

	rival[0] = make(shared);
	while (n <= count) {
		ash_heap *heap = make(shared);

		if (seat_home(heap_of(heap)->id) == seat_home(heap_of(rival[0])->id))
			rival[n++] = heap;
		else
			ash_heap_destroy(heap);
	}
}

/* With a page, which is there. */
static inline size_t benches(unsigned kind, bool resident)
{
	const struct bench *b;
	size_t n = 0;

	for (b = benches_first(kind); b != NULL; b = b->next)
		n += b->page != NULL && (!resident || pages_there(b->page));
	return n;
}

#endif
