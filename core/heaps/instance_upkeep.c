/* SPDX-License-Identifier: MIT */
/* Calls on a whole heap: detach, trim, statistics, check, recovery, root. */
#include "arena/arena.h"
#include "arena/arena_call.h"
#include "diagnostics/blocks.h"
#include "backend/shared.h"
#include "heaps/building.h"
#include "heaps/instance.h"
#include "heaps/seats.h"
#include "slab/unowned.h"
#include "thread/refill.h"
#include "thread/seat.h"
#include "thread/seating.h"

/* Returns the functions for a shared heap, or NULL for a heap of this process and for an arena. */
static const struct shared_hooks *hooks_of(ash_heap *heap)
{
	return arena_of(heap) == NULL && !heap_kind(heap_of(heap))->own_records ? shared_hooks_now() : NULL;
}

/* Returns whether no thread has a record in a shared heap, and a call that only reads must not take a record. */
static bool is_at_rest(struct heap *h)
{
	return !heap_kind(h)->own_records && shared_hooks_now()->is_at_rest(h);
}

void ash_heap_thread_detach(ash_heap *heap)
{
	struct heap *h = heap_of(heap);
	struct seat_entry *t;
	struct owner *o;

	if (arena_of(heap) != NULL || is_at_rest(h))
		return;
	o = seats_take(h, &t);
	if (o == NULL)
		return;
	/* A handler that interrupted a change does nothing, as with a closed seat. */
	if (!heap_kind(h)->own_records && shared_hooks_now()->is_busy(o)) {
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
	if (is_at_rest(h))
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
	if (!heap_kind(h)->own_records)
		shared_hooks_now()->search(h, call.owner);
	b = building_begin(h, call.owner);
	if (unowned_exist(h))
		(void)unowned_shrink(h);
	building_end(b);
	seats_exit(call);
	return records;
}

bool ash_heap_extend(ash_heap *heap, size_t capacity)
{
	const struct shared_hooks *hooks = hooks_of(heap);

	return hooks != NULL && hooks->extend(heap_of(heap), capacity);
}

size_t ash_heap_release_owner(ash_heap *heap, uint64_t owner)
{
	const struct shared_hooks *hooks = hooks_of(heap);

	return hooks == NULL ? 0 : hooks->release_owner(heap_of(heap), owner);
}

void *ash_heap_root(ash_heap *heap)
{
	const struct shared_hooks *hooks = hooks_of(heap);
	const struct arena *a = arena_of(heap);
	uint64_t root;

	/* Pairs with ash_heap_set_root: the object of the root is complete. */
	root = hooks != NULL ? hooks->root(heap_of(heap)) : load_acquire(a != NULL ? &a->root : &heap_of(heap)->root);
	return (void *)root; /* NOLINT: an address */
}

void ash_heap_set_root(ash_heap *heap, void *root)
{
	const struct shared_hooks *hooks = hooks_of(heap);
	struct arena *a = arena_of(heap);

	if (hooks != NULL)
		hooks->root_changes(heap_of(heap));
	store_release(a != NULL ? &a->root : &heap_of(heap)->root, (uint64_t)(uintptr_t)root);
}
