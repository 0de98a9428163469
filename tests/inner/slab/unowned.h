/* SPDX-License-Identifier: MIT */
/* What tests of unowned slabs have in common. */
#ifndef TESTS_INNER_SLAB_UNOWNED_H
#define TESTS_INNER_SLAB_UNOWNED_H

#include "inner/slots.h"

#include "heaps/instance.h"
#include "heaps/seats.h"
#include "thread/seat.h"
#include "thread/seating.h"

enum { BLOCKS = 1 << 18 };

static void *blocks[BLOCKS];

/* So many blocks by calls that find the thread's record in use, as a handler's do. */
static inline void burst(ash_heap *heap, size_t size, size_t n)
{
	struct seat_entry *t = NULL;
	struct owner *o = heap == NULL ? seat_take() : seats_take(heap_of(heap), &t);

	CHECK(o != NULL && n <= BLOCKS);
	for (size_t i = 0; i < n; i++)
		CHECK((blocks[i] = heap == NULL ? ash_alloc(size) : ash_heap_alloc(heap, size)) != NULL);
	CHECK((place_of(blocks[n - 1]).slab->owner & OWNER_UNOWNED) != 0);
	if (heap == NULL)
		seat_open();
	else
		seats_give(t, o);
}

#endif
