/* SPDX-License-Identifier: MIT */
/* Calls on a whole heap: detach, trim, statistics, check, recovery, root. */
#include "arena/arena.h"
#include "arena/arena_call.h"
#include "diagnostics/blocks.h"
#include "heaps/building.h"
#include "heaps/instance.h"
#include "heaps/seats.h"
#include "slab/unowned.h"
#include "thread/refill.h"
#include "thread/seat.h"
#include "thread/seating.h"

void ash_heap_thread_detach(ash_heap *heap)
{
	struct heap *h = heap_of(heap);
	struct seat_entry *t;
	struct owner *o;

	if (arena_of(heap) != NULL || instance_kind_of(h)->is_at_rest(h))
		return;
	o = seats_take(h, &t);
	if (o == NULL)
		return;
	/* A handler that interrupted a change does nothing, as with a closed seat. */
	if (instance_kind_of(h)->is_busy(o)) {
		seats_give(t, o);
		return;
	}
	record_rest(h, o);
	/*
	 * From here on another thread may hold the record and change its counter, so signal handlers of this thread
	 * must not use the record.
	 */
	t->self = SEAT_BUSY;
	signal_fence();
	record_vacate(h, o);
	seats_leave(t);
}

size_t ash_heap_trim(ash_heap *heap, size_t keep)
{
	struct heap *h = heap_of(heap);
	struct seats_call call;
	struct building b;
	size_t bytes;

	if (arena_of(heap) != NULL)
		return 0;
	call = seats_enter(h);
	b = building_begin(h, call.self);
	bytes = heap_give_back(h, call.owner, keep);
	building_end(b);
	seats_exit(call);
	return bytes;
}

void ash_heap_stats(ash_heap *heap, struct ash_statistics *out)
{
	if (arena_of(heap) != NULL)
		arena_stats(arena_of(heap), out);
	else
		heap_stats(heap_of(heap), out);
}

int ash_heap_check(ash_heap *heap)
{
	struct heap *h = heap_of(heap);
	struct seats_call call;
	int broken;

	if (arena_of(heap) != NULL)
		return arena_check(arena_of(heap));
	/* No thread has a list that only that thread may read. */
	if (instance_kind_of(h)->is_at_rest(h))
		return heap_check(h, NULL);
	call = seats_enter(h);
	broken = heap_check(h, call.owner);
	seats_exit(call);
	return broken;
}

size_t ash_heap_recover(ash_heap *heap)
{
	struct heap *h = heap_of(heap);
	struct seats_call call;
	struct building b;
	size_t records;

	if (arena_of(heap) != NULL)
		return 0;
	call = seats_enter(h);
	b = building_begin(h, call.owner);
	records = reap_all(h, call.owner);
	building_end(b);
	benches_reap();
	instance_kind_of(h)->search(h, call.owner);
	b = building_begin(h, call.owner);
	if (unowned_exist(h))
		(void)unowned_shrink(h);
	building_end(b);
	seats_exit(call);
	return records;
}

bool ash_heap_extend(ash_heap *heap, size_t capacity)
{
	return instance_kind(heap)->extend(heap_of(heap), capacity);
}

size_t ash_heap_release_owner(ash_heap *heap, uint64_t owner)
{
	return instance_kind(heap)->release_owner(heap_of(heap), owner);
}

void *ash_heap_root(ash_heap *heap)
{
	return (void *)instance_kind(heap)->root(heap_of(heap)); /* NOLINT: an address */
}

void ash_heap_set_root(ash_heap *heap, void *root)
{
	instance_kind(heap)->set_root(heap_of(heap), (uint64_t)(uintptr_t)root);
}
