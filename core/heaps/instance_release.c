/* SPDX-License-Identifier: MIT */
#include "heaps/instance.h"

#include "arena/arena.h"
#include "backend/map.h"
#include "backend/retain.h"
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

bool instance_free_span(struct heap *h, struct owner *self, struct chunk *c, void *p)
{
	struct building b = building_begin(h, self);
	bool done = span_release(c, p);

	retain_tick(h, 1);
	building_end(b);
	return done;
}

bool instance_free_block(struct heap *h, struct owner *o, struct owner *self, struct chunk *c, void *p, bool drafted)
{
	struct owner *vacant;
	struct slot_ref at;

	(void)drafted;
	if (!slot_find(c, p, &at))
		return instance_free_span(h, self, c, p);
	if (o != NULL && owner_has(o, at.slab))
		return instance_free_own(h, o, at.slab, at.index);
	if ((load_relaxed(&at.slab->owner) & OWNER_UNOWNED) != 0)
		return unowned_free(at.slab, at.index);
	if (!remote_free(&at, &vacant))
		return false;
	if (vacant != NULL)
		instance_visit(h, self, vacant, at.slab);
	return true;
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

bool instance_release_own(struct heap *h, struct chunk *c, void *p)
{
	return release_own(h, c, p);
}

static __attribute__((noinline)) void release_slow(struct chunk *c, void *p, const char *from)
{
	struct heap *h = chunk_heap(c);
	struct seats_call call;
	bool done;

	arenas_gone_with(c, p);
	call = seats_enter(h);
	done = instance_kind_of(h)->free_block(h, call.owner, call.self, c, p, false);
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
	done = instance_kind_of(h)->free_block(h, call.owner, call.self, c, p, true);
	seats_exit(call);
	return done;
}

void instance_release(struct chunk *c, void *p)
{
	if (unlikely(c == NULL))
		diagnose(CALL_RELEASE, p);
	if (unlikely(!instance_kind_of(chunk_heap(c))->release_own(chunk_heap(c), c, p)))
		release_slow(c, p, CALL_RELEASE);
}

__attribute__((noinline)) void instance_release_slow(struct heap *h, void *p)
{
	if (p != NULL)
		release_slow(instance_chunk(h, CALL_HEAP_RELEASE, p), p, CALL_HEAP_RELEASE);
}

static __attribute__((noinline)) void release_any_kind(struct heap *h, void *p)
{
	instance_kind(heap_public(h))->release(h, p);
}

static __attribute__((noinline)) void release_other_kind(struct heap *h, void *p)
{
	if (likely(h->sharing == PAGES_SHARED)) /* as in alloc_other */
		load_relaxed(&instance_kinds[PAGES_SHARED])->release(h, p);
	else
		release_any_kind(h, p);
}

FAST void ash_heap_release(ash_heap *heap, void *p)
{
	struct heap *h = heap_of(heap);
	struct chunk *c;

	if (unlikely(h->sharing != PAGES_PRIVATE)) {
		release_other_kind(h, p);
		return;
	}
	/* The hint may name any chunk: release_own compares p with a slab in it. */
	c = map_guess(p);
	if (unlikely(c == NULL) || unlikely(!release_own(h, c, p)))
		instance_release_slow(h, p);
}

void ash_heap_release_sized(ash_heap *heap, void *p, size_t size)
{
	misuse_unless_fits(CALL_HEAP_RELEASE_SIZED, p, instance_kind(heap)->bytes(heap_of(heap), CALL_HEAP_RELEASE_SIZED, p), 1, size);
	ash_heap_release(heap, p);
}

void ash_heap_release_aligned_sized(ash_heap *heap, void *p, size_t alignment, size_t size)
{
	misuse_unless_fits(CALL_HEAP_RELEASE_ALIGNED, p, instance_kind(heap)->bytes(heap_of(heap), CALL_HEAP_RELEASE_ALIGNED, p),
			   alignment, size);
	ash_heap_release(heap, p);
}
