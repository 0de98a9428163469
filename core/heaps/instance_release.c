/* SPDX-License-Identifier: MIT */
#include "heaps/instance.h"

#include "arena/arena.h"
#include "arena/arena_call.h"
#include "backend/map.h"
#include "backend/retain.h"
#include "front/diagnose.h"
#include "front/remote.h"
#include "front/slot.h"
#include "front/span.h"
#include "slab/unowned.h"
#include "store/recover/block_tags.h"
#include "store/recover/building.h"
#include "store/recover/census.h"
#include "store/recover/holds.h"
#include "store/recover/seats.h"
#include "thread/bin.h"
#include "thread/seating.h"
#include "thread/settle.h"

/* Releases a slot of the caller's own slab; o is checked out.  Returns false if the slot is free. */
static bool free_own(struct heap *h, struct owner *o, struct slot_ref at)
{
	struct slab *s = at.slab;
	uint64_t word = load_relaxed(&s->free[at.group]) | at.bit;
	struct building b;

	if (!slot_is_taken(&at))
		return false;
	if (slab_give(s, at.group, word))
		return true;
	/* The slab may move to another list or become empty. */
	b = building_begin(h, o);
	settle_freed(o, s, at.group, word);
	building_end(b);
	return true;
}

/* Releases a slot of an unowned slab.  Returns false if the slot is free. */
static bool free_unowned(struct heap *h, struct owner *self, struct slot_ref at)
{
	struct building b;
	bool done;

	if (store_shared(h) == NULL)
		return unowned_free(at.slab, at.index);
	if (!slot_is_taken(&at))
		return false;
	/*
	 * A slot without a tag is in flight.  That is allowed only while the caller builds and holds the slot;
	 * otherwise the slot would count as lost.
	 */
	b = building_begin(h, self);
	holds_note(h, hold_slot(at.slab, at.index), true);
	store_release(census_tag(at.slab, at.index), TAG_NONE);
	done = unowned_free(at.slab, at.index);
	building_end(b);
	return done;
}

/*
 * Releases a slot of another owner's slab.  `self` is the caller's record; `out`, if the caller has it checked out.
 * `tagged` means that the slot's tag names an intent (intent.h).
 */
static ALWAYS_INLINE bool free_remote(struct heap *h, struct owner *self, bool out, const struct slot_ref *at,
				      bool tagged)
{
	struct store *s = store_shared(h);
	struct owner *vacant;
	struct building b;

	if (s != NULL) {
		if (!slot_is_taken(at))
			return false;
		if (self == NULL)
			seal_touch(s);
		/* The slot is not in flight: if a thread dies before the release, its process keeps the block. */
		if (!tagged)
			store_release(census_tag(at->slab, at->index),
				      out ? census_leaving(self) : census_mine(s, self));
	}
	if (!remote_free(at, &vacant))
		return false;
	if (vacant != NULL) {
		b = building_begin(h, self);
		visit_slab(vacant, at->slab);
		building_end(b);
	}
	return true;
}

/* Releases a span. */
static bool span_free(struct heap *h, struct seats_call call, struct chunk *c, void *p)
{
	struct building b = building_begin(h, call.self);
	bool done = span_release(c, p);

	retain_tick(h, 1);
	building_end(b);
	return done;
}

/* Releases any block of the heap. */
static bool block_free(struct heap *h, struct seats_call call, struct chunk *c, void *p, bool tagged)
{
	struct slot_ref at;

	if (!slot_find(c, p, &at))
		return span_free(h, call, c, p);
	if (call.owner != NULL && owner_has(call.owner, at.slab))
		return free_own(h, call.owner, at);
	if ((load_relaxed(&at.slab->owner) & OWNER_UNOWNED) != 0)
		return free_unowned(h, call.self, at);
	return free_remote(h, call.self, call.owner != NULL, &at, tagged);
}

/*
 * The common case: releases a slot of the caller's own slab, and checks the record in.  Returns false if nothing was
 * done.  As in ash_release, the comparison of owners decides several things at once, here also whether the slab belongs
 * to the record's heap.
 */
static ALWAYS_INLINE bool release_own(struct seat_entry *t, struct owner *o, struct slab *s, void *p)
{
	uint64_t word, ready, index, group;

	if (unlikely(load_relaxed(&s->owner) != (uint64_t)(uintptr_t)o) ||
	    unlikely(!slab_index(s, p, &index)))
		return false;
	group = index / GROUP_SLOTS;
	word = load_relaxed(&s->free[group]);
	ready = s->ready;
	if (unlikely(cpu_set_bit(&word, index)) || unlikely(slab_has_event(s, ready, word)))
		return false;
	/* The order matters: a thread that takes the record over completes the release. */
	store_release(&truth_of(o)->flight, (uint64_t)(uintptr_t)p);
	slab_free(s, ready, group, word);
	store_release(&truth_of(o)->flight, 0);
	seats_give(t, o);
	return true;
}

static __attribute__((noinline)) void release_slow(struct chunk *c, void *p, const char *from)
{
	struct heap *h = chunk_heap(c);
	struct seats_call call;
	bool done;

	arenas_gone_with(c, p);
	call = seats_enter(h);
	if (call.owner != NULL)
		store_release(&truth_of(call.owner)->flight, (uint64_t)(uintptr_t)p);
	done = block_free(h, call, c, p, false);
	if (call.owner != NULL)
		store_release(&truth_of(call.owner)->flight, 0);
	seats_exit(call);
	if (!done)
		diagnose(from, p);
}

bool instance_release_tagged(struct heap *h, void *p)
{
	struct chunk *c = region_find(h, p);
	struct seats_call call;
	bool done;

	if (c == NULL)
		return false;
	arenas_gone_with(c, p);
	call = seats_enter(h);
	done = block_free(h, call, c, p, true);
	seats_exit(call);
	return done;
}

void instance_release(struct chunk *c, void *p)
{
	struct seat_entry *t;
	struct owner *o;

	if (unlikely(c == NULL))
		diagnose(CALL_RELEASE, p);
	o = seats_guess(chunk_heap(c), &t);
	if (likely(o != NULL)) {
		if (likely(release_own(t, o, slab_record(c, p), p)))
			return;
		seats_give(t, o);
	}
	release_slow(c, p, CALL_RELEASE);
}

/* Releases any other block, and NULL. */
static __attribute__((noinline)) void heap_release_slow(ash_heap *heap, void *p)
{
	struct arena *a = arena_of(heap);

	if (a != NULL)
		arena_call_release(a, CALL_HEAP_RELEASE, p);
	else if (p != NULL)
		release_slow(instance_chunk(heap, CALL_HEAP_RELEASE, p), p, CALL_HEAP_RELEASE);
}

/*
 * Releases a slot of an owned slab, the caller's or another's; any other block by heap_release_slow.  The record is
 * checked in.
 */
static __attribute__((noinline)) void heap_release_slot(ash_heap *heap, void *p, struct seat_entry *t, struct owner *o,
							struct slab *s)
{
	struct heap *h = heap_of(heap);
	struct slot_ref at;
	bool done = false;

	if (likely(slot_find_in(s, p, &at)) && likely(load_relaxed(&s->owner) > OWNER_FLAGS) &&
	    likely(chunk_heap(load_relaxed(&s->chunk)) == h) && likely(load_relaxed(&arenas_used) == 0)) {
		store_release(&truth_of(o)->flight, (uint64_t)(uintptr_t)p);
		done = owner_has(o, s) ? free_own(h, o, at) : free_remote(h, o, true, &at, false);
		store_release(&truth_of(o)->flight, 0);
	}
	seats_give(t, o);
	if (unlikely(!done))
		heap_release_slow(heap, p);
}

FAST void ash_heap_release(ash_heap *heap, void *p)
{
	/* The hint may name any chunk: release_own compares p with a slab in it. */
	struct chunk *c = map_guess(p);
	struct seat_entry *t;
	struct owner *o;
	struct slab *s;

	if (unlikely(c == NULL) || unlikely((o = seats_guess(heap_of(heap), &t)) == NULL)) {
		heap_release_slow(heap, p);
		return;
	}
	s = slab_record(c, p);
	if (unlikely(!release_own(t, o, s, p)))
		heap_release_slot(heap, p, t, o, s);
}

void ash_heap_release_sized(ash_heap *heap, void *p, size_t size)
{
	misuse_unless_fits(CALL_HEAP_RELEASE_SIZED, p, instance_bytes(heap, CALL_HEAP_RELEASE_SIZED, p), 1, size);
	ash_heap_release(heap, p);
}

void ash_heap_release_aligned_sized(ash_heap *heap, void *p, size_t alignment, size_t size)
{
	misuse_unless_fits(CALL_HEAP_RELEASE_ALIGNED, p, instance_bytes(heap, CALL_HEAP_RELEASE_ALIGNED, p),
			   alignment, size);
	ash_heap_release(heap, p);
}
