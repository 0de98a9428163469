/* SPDX-License-Identifier: MIT */
/* Creating heaps inside memory of the caller. */
#include "arena/arenas.h"
#include "backend/map.h"
#include "front/slot.h"
#include "heaps/instance_hooks.h"
#include "shm/building.h"
#include "shm/seats.h"
#include "thread/seat.h"
#include "thread/spare.h"

/*
 * If the memory lies in a block of the calling thread's slab, the release of that block
 * must take the path on which arenas are removed from the list.  It does if the slab is
 * armed (slab_arm), which a spare slab is not.
 */
static void block_arm(const void *memory)
{
	struct chunk *c = map_find(memory);
	struct heap *h = c == NULL ? NULL : c->region->heap;
	struct seat_entry *t = NULL;
	struct owner *o;
	struct slab *s;

	if (c == NULL || !slab_find(c, memory, &s) || s->slot_size < ARENA_MIN)
		return;
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

	if (!arena_fits(memory, bytes))
		return NULL;
	i = arenas_reserve(begin, end);
	if (i == ASH_HEAPS_IN_MAX)
		return NULL;
	block_arm(memory);
	arena_set_up(a, begin, end);
	arenas_publish(i, a);
	store_relaxed(&heap_hooks, &instance_hooks); /* see heap_hooks_now */
	return (ash_heap *)(void *)a;
}
