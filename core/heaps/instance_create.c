/* SPDX-License-Identifier: MIT */
/* Creates heaps of this process, and destroys heaps of any kind. */
#include "heaps/instance.h"

#include "arena/arena.h"
#include "backend/heap.h"
#include "backend/region.h"
#include "front/slot.h"
#include "heaps/building.h"
#include "heaps/remains.h"
#include "heaps/seats.h"
#include "memory.h"
#include "thread/bin.h"
#include "thread/owner.h"
#include "thread/seat.h"
#include "thread/seating.h"

uint64_t heap_number(void)
{
	static uint64_t count;

	return fetch_add_relaxed(&count, 1) + 1;
}

void heap_configure(struct heap *h, size_t cap, const struct ash_heap_options *options)
{
	h->own = ash_defaults;
	h->own.cap = cap;
	if (options != NULL) {
		h->own.huge = options->huge;
		h->own.sparse = options->sparse;
		if (options->retain != 0)
			h->own.retain = options->retain;
	}
	h->options = &h->own;
}

ash_heap *ash_heap_create(const struct ash_heap_options *options)
{
	struct heap *h = remains_record();
	size_t cap = ash_defaults.cap;

	if (h == NULL)
		return NULL;
	if (options != NULL)
		cap = capacity_chunks(options->cap) << CHUNK_SHIFT;
	heap_configure(h, cap, options);
	h->id = heap_id(heap_number(), SEATS_OF_PROCESS);
	h->sharing = PAGES_PRIVATE;
	generation_watch(); /* now, so that the generation of each record will be known */
	h->settled = generation_now();
	instance_set();
	remains_use(h);
	return heap_public(h);
}

/* ---- in memory of the caller ---- */

/*
 * If the memory lies in a block of the calling thread's slab, the release of that block must take the path on which
 * arenas are removed from the list.  The release takes that path if the slab is armed (slab_arm), which a spare is
 * not.  A slab with other slots, too, loses its hints instead: releases find them missing.
 */
static void block_arm(const void *memory)
{
	struct chunk *c = map_find(memory);
	struct heap *h = c == NULL ? NULL : chunk_heap(c);
	struct seat_entry *t = NULL;
	struct owner *o;
	struct slab *s;
	unsigned i;

	if (c == NULL || !slab_find(c, memory, &s) || s->slot_size < ARENA_MIN)
		return;
	if (load_relaxed(&s->slots) != 1) {
		/*
		 * The slab stays, because the block belongs to the caller.  Relaxed, because a missing hint is always
		 * correct.
		 */
		for (i = 0; i < s->units; i++)
			store_relaxed(&map_unit(c->base + ((size_t)s->unit << UNIT_SHIFT))[i], (struct slab *)NULL);
		return;
	}
	if (h != &heap_default)
		o = seats_guess(h, &t);
	else if ((o = seat.open == 0 ? NULL : seat.self) != NULL)
		seat_close();
	if (o == NULL)
		return;
	if (owner_has(o, s)) {
		struct building b = building_begin(h, o);

		if (s->spare)
			spares_remove(o, s);
		(void)slab_arm(s);
		building_end(b);
	}
	if (t != NULL)
		seats_give(t, o);
	else
		seat_open();
}

ash_heap *ash_heap_create_in(void *memory, size_t bytes)
{
	uint64_t begin = (uintptr_t)memory, end = begin + bytes, i;
	struct arena *a = arena_in(begin);

	if (!arena_fits(memory, bytes, ARENA_MIN))
		return NULL;
	i = arenas_reserve(begin, end);
	if (i == ASH_HEAPS_IN_MAX)
		return NULL;
	block_arm(memory);
	arena_set_up(a, begin, end);
	arenas_publish(i, a);
	instance_set();
	return (ash_heap *)(void *)a;
}

/* ---- destroying ---- */

void ash_heap_destroy(ash_heap *heap)
{
	struct heap *h = heap_of(heap);

	if (heap == NULL || arenas_leave(heap))
		return;
	if (!pages_mapped(heap) || h->sharing > PAGES_SHARED)
		misuse_report(CALL_HEAP_DESTROY, heap, "heap already destroyed", NULL, 0);
	instance_kind_of(h)->leave(h);
}
