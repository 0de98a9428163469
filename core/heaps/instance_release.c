/* SPDX-License-Identifier: MIT */
#include "heaps/instance.h"

#include "arena/arena.h"
#include "arena/arena_call.h"
#include "backend/map.h"
#include "backend/retain.h"
#include "backend/shared.h"
#include "front/diagnose.h"
#include "front/remote.h"
#include "front/slot.h"
#include "front/span.h"
#include "heaps/building.h"
#include "heaps/seats.h"
#include "slab/unowned.h"
#include "thread/bin.h"
#include "thread/seating.h"
#include "thread/settle.h"

bool instance_free_own(struct heap *h, struct owner *o, struct slab *s, uint64_t index)
{
	uint64_t group = index / GROUP_SLOTS, word = load_relaxed(&s->free[group]);
	struct building b;

	if (((load_relaxed(&s->remote[group]) >> (index % GROUP_SLOTS)) & 1) != 0 || cpu_set_bit(&word, index))
		return false;
	if (slab_give(s, group, word))
		return true;
	/* The slab may move to another list or become empty. */
	b = building_begin(h, o);
	settle_freed(o, s, group, word);
	building_end(b);
	return true;
}

void instance_visit(struct heap *h, struct owner *self, struct owner *vacant, struct slab *s)
{
	struct building b = building_begin(h, self);

	visit_slab(vacant, s);
	building_end(b);
}

/* Releases a slot of an unowned slab.  Returns false if the slot is free. */
static bool free_unowned(struct heap *h, struct owner *self, struct slot_ref at)
{
	if (!heap_kind(h)->own_records)
		return shared_hooks_now()->free_unowned(h, self, &at);
	return unowned_free(at.slab, at.index);
}

/* Releases a slot of another owner's slab.  `drafted` is for backend/shared.h.  Returns false if the slot is free. */
static bool free_remote(struct heap *h, struct seats_call call, struct slot_ref at, bool drafted)
{
	struct owner *vacant;

	if (!heap_kind(h)->own_records)
		return shared_hooks_now()->free_remote(h, call.owner, call.self, &at, drafted);
	if (!remote_free(&at, &vacant))
		return false;
	if (vacant != NULL)
		instance_visit(h, call.self, vacant, at.slab);
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
static bool block_free(struct heap *h, struct seats_call call, struct chunk *c, void *p, bool drafted)
{
	struct slot_ref at;

	if (!slot_find(c, p, &at))
		return span_free(h, call, c, p);
	if (call.owner != NULL && owner_has(call.owner, at.slab))
		return instance_free_own(h, call.owner, at.slab, at.index);
	if ((load_relaxed(&at.slab->owner) & OWNER_UNOWNED) != 0)
		return free_unowned(h, call.self, at);
	return free_remote(h, call, at, drafted);
}

/* The common case: releases a slot of the caller's own slab.  Returns false if nothing was done. */
static inline bool release_own(struct heap *h, struct chunk *c, void *p)
{
	struct slab *s = slab_record(c, p);
	struct own_words at;
	struct owner *o;
	struct seat_entry *t;
	bool done;

	o = seats_guess(h, &t);
	if (unlikely(o == NULL))
		return false;
	done = instance_own_slot(o, s, p, &at) && !unlikely(slab_has_event(s, at.ready, at.word));
	if (likely(done))
		slab_free(s, at.ready, at.index / GROUP_SLOTS, at.word);
	seats_give(t, o);
	return done;
}

/* release_own in any heap. */
static inline bool release_own_in(struct heap *h, struct chunk *c, void *p)
{
	return likely(heap_kind(h)->own_records) ? release_own(h, c, p) : shared_hooks_now()->release_own(h, c, p);
}

static __attribute__((noinline)) void release_slow(struct chunk *c, void *p, const char *from)
{
	struct heap *h = chunk_heap(c);
	struct seats_call call;
	bool told, done;

	arenas_gone_with(c, p);
	call = seats_enter(h);
	told = call.owner != NULL && !heap_kind(h)->own_records;
	if (told)
		shared_hooks_now()->releasing(call.owner, p);
	done = block_free(h, call, c, p, false);
	if (told)
		shared_hooks_now()->releasing(call.owner, NULL);
	seats_exit(call);
	if (!done)
		diagnose(from, p);
}

bool instance_release_drafted(struct heap *h, void *p)
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
	if (unlikely(c == NULL))
		diagnose(CALL_RELEASE, p);
	if (unlikely(!release_own_in(chunk_heap(c), c, p)))
		release_slow(c, p, CALL_RELEASE);
}

__attribute__((noinline)) void instance_release_slow(ash_heap *heap, void *p)
{
	struct arena *a = arena_of(heap);

	if (a != NULL)
		arena_call_release(a, CALL_HEAP_RELEASE, p);
	else if (p != NULL)
		release_slow(instance_chunk(heap, CALL_HEAP_RELEASE, p), p, CALL_HEAP_RELEASE);
}

static __attribute__((noinline)) void heap_release_other(ash_heap *heap, void *p)
{
	if (likely(heap_of(heap)->sharing == PAGES_SHARED))
		shared_hooks_now()->release(heap_of(heap), p);
	else
		instance_release_slow(heap, p);
}

FAST void ash_heap_release(ash_heap *heap, void *p)
{
	struct heap *h = heap_of(heap);
	struct chunk *c;

	if (unlikely(h->sharing != PAGES_PRIVATE)) {
		heap_release_other(heap, p);
		return;
	}
	/* The hint may name any chunk: release_own compares p with a slab in it. */
	c = map_guess(p);
	if (unlikely(c == NULL) || unlikely(!release_own(h, c, p)))
		instance_release_slow(heap, p);
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
