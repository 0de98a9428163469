/* SPDX-License-Identifier: MIT */
/* Calls on a whole heap: detach, trim, statistics, check, recovery, root. */
#include "arena/arena_check.h"
#include "arena/arena_handle.h"
#include "arena/arena_walk.h"
#include "diagnostics/check.h"
#include "diagnostics/stats.h"
#include "front/trim.h"
#include "heaps/instance.h"
#include "shm/building.h"
#include "shm/intent.h"
#include "shm/record_leave.h"
#include "shm/recover.h"
#include "shm/seal.h"
#include "shm/seats.h"
#include "shm/store_extend.h"
#include "thread/seat.h"

void ash_heap_thread_detach(ash_heap *heap)
{
	struct heap *h = heap_of(heap);
	struct seat_entry *t;
	struct owner *o;

	if (arena_of(heap) != NULL)
		return;
	/* In a sealed file no thread has a record, and taking one would break the seal. */
	if (h->sharing == PAGES_SHARED && seal_state(load_acquire(&store_of(h)->seal)) == SEAL_WHOLE)
		return;
	o = seats_take(h, &t);
	if (o == NULL)
		return;
	/* A handler that interrupted a change does nothing, as where it finds the seat closed. */
	if (h->sharing == PAGES_SHARED && intents_busy(o)) {
		seats_give(t, o);
		return;
	}
	record_rest(h, o);
	/*
	 * From here on another thread may hold the record and change its counter, so
	 * signal handlers of this thread must not use it.
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
	call = seats_enter(h);
	broken = heap_check(h, call.owner);
	seats_exit(call);
	return broken;
}

size_t ash_heap_recover(ash_heap *heap)
{
	struct heap *h = heap_of(heap);
	struct seats_call call;
	size_t records;

	if (arena_of(heap) != NULL)
		return 0;
	call = seats_enter(h);
	records = heap_recover(h, call.owner);
	seats_exit(call);
	return records;
}

void *ash_heap_root(ash_heap *heap)
{
	struct arena *a = arena_of(heap);
	/* Pairs with ash_heap_set_root: what the root points to is complete. */
	uint64_t root = a != NULL ? load_acquire(&a->root) : intent_read(heap_of(heap), &heap_of(heap)->root);

	return (void *)root; /* NOLINT: an address */
}

void ash_heap_set_root(ash_heap *heap, void *root)
{
	struct arena *a = arena_of(heap);

	if (a == NULL && heap_of(heap)->sharing == PAGES_SHARED)
		seal_touch(store_of(heap_of(heap)));
	store_release(a != NULL ? &a->root : &heap_of(heap)->root, (uint64_t)(uintptr_t)root);
}

bool ash_heap_extend(ash_heap *heap, size_t capacity)
{
	size_t n = capacity / CHUNK_SIZE + (capacity % CHUNK_SIZE != 0);
	struct heap *h = heap_of(heap);
	struct seats_call call;
	struct building b;
	bool done;

	if (arena_of(heap) != NULL || h->sharing != PAGES_SHARED)
		return false;
	/* Taking a record would break the seal, for nothing. */
	if (store_has(store_of(h), n) || !store_may_extend(store_of(h), n))
		return store_has(store_of(h), n);
	call = seats_enter(h);
	b = building_begin(h, call.self);
	done = store_extend(store_of(h), n);
	building_end(b);
	seats_exit(call);
	return done;
}
