/* SPDX-License-Identifier: MIT */
/* A holder that vanished while it changed its lists. */
#ifndef TESTS_INNER_THREAD_REAP_KILLED_H
#define TESTS_INNER_THREAD_REAP_KILLED_H

#include "ashlar_heap.h"
#include "heaps/building.h"
#include "heaps/instance.h"
#include "heaps/seats.h"
#include "inner/spares.h"

enum { SIZE = 40000 }; /* a slab of one slot */

static ash_heap *heap;

static inline void *take(void)
{
	return NOT_NULL(heap == NULL ? ash_alloc(SIZE) : ash_heap_alloc(heap, SIZE));
}

static inline void give(void *p)
{
	if (heap == NULL)
		ash_release(p);
	else
		ash_heap_release(heap, p);
}

/*
 * Of three spares the second is alone in its chunk.  As far as spares_remove comes with it: it
 * says that it is none, and is there still.
 */
static inline struct owner *stop_between_two_spares(void)
{
	char *first = take(), *third = take(), *second;
	struct owner *o;
	struct slab *s;

	do
		second = take();
	while (map_find(second) == map_find(first));
	give(first);
	give(second);
	give(third);
	o = heap == NULL ? seat.self : seats_self(heap_of(heap));
	CHECK_EQ(spares_number(o), 3);
	CHECK(spares_newest(o)->base == third);
	(void)building_begin(o->heap, o);
	CHECK(slab_find(map_find(second), second, &s));
	o->spare_units = (uint8_t)(o->spare_units - SPARE_WEIGHT(s->units));
	s->spare = 0;
	return o;
}

/* Unmade twice, its chunk would be free as a whole and by its units. */
static inline void no_chunk_is_free_twice(struct heap *h)
{
	struct region *r;
	size_t i;

	for (r = region_first(h); r != NULL; r = region_next(r))
		for (i = 0; i < r->chunks; i++)
			if (bits_all(r->free, i, 1))
				CHECK_EQ(region_chunk(r, i)->units, 0);
}

#endif
