/* SPDX-License-Identifier: MIT */
/* Blocks of heaps that the program made: taking them back. */
#include "front/diagnose.h"
#include "shm/building.h"
#include "shm/census.h"
#include "arena/arena.h"
#include "heaps/instance.h"
#include "backend/retain.h"
#include "backend/map.h"
#include "memory.h"
#include "front/release.h"
#include "shm/seats.h"
#include "slab/unowned.h"
#include "front/span.h"
#include "thread/watch.h"
#include "thread/collect.h"
#include "thread/settle.h"

/* A slot of the caller's own slab; o is checked out.  False: it is free. */
static bool free_own(struct heap *h, struct owner *o, struct slot_ref at)
{
	struct slab *s = at.slab;
	uint64_t word = load_relaxed(&s->free[at.group]) | at.bit;
	struct building b;

	if (!slot_is_taken(&at))
		return false;
	if (!slab_has_event(s, at.group, word)) {
		store_release(&s->free[at.group], word);
		return true;
	}
	/* Lists, and perhaps the whole slab. */
	b = building_begin(h, o);
	owner_freed(o, s, at.group, word);
	building_end(b);
	return true;
}

/* A slot of unowned slab. */
static bool free_nobodys(struct heap *h, struct owner *self, struct slot_ref at)
{
	struct building b;
	bool done;

	if (h->sharing != PAGES_SHARED)
		return unowned_free(at.slab, at.index);
	if (!slot_is_taken(&at))
		return false;
	/* Without a tag it is in flight: only while we build, or it would seem lost. */
	b = building_begin(h, self);
	store_release(census_tag(at.slab, at.index), TAG_NONE);
	done = unowned_free(at.slab, at.index);
	building_end(b);
	return done;
}

/* A slot of another owner's slab. */
static bool free_remote(struct heap *h, struct owner *self, struct slot_ref at)
{
	struct owner *vacant;
	struct building b;

	if (h->sharing == PAGES_SHARED) {
		if (!slot_is_taken(&at))
			return false;
		store_release(census_tag(at.slab, at.index),
			      (uint16_t)(census_mine(store_of(h), self) | TAG_LEAVING));
	}
	if (!remote_free(&at, &vacant))
		return false;
	if (vacant != NULL) {
		b = building_begin(h, self);
		owner_visit(vacant);
		building_end(b);
	}
	return true;
}

static bool span_free(struct heap *h, struct owner *o, struct owner *self, struct chunk *c, void *p)
{
	struct building b = building_begin(h, self);
	bool done = span_release(c, p), running = retain_tick(h, 1);

	if (o != NULL)
		watch_heed(o, running);
	building_end(b);
	return done;
}

static bool block_free(struct heap *h, struct owner *o, struct owner *self, struct chunk *c,
		       void *p)
{
	struct slot_ref at;

	if (!slot_find(c, p, &at))
		return span_free(h, o, self, c, p);
	if (o != NULL && owner_has(o, at.slab))
		return free_own(h, o, at);
	if ((load_relaxed(&at.slab->owner) & OWNER_UNOWNED) != 0)
		return free_nobodys(h, self, at);
	return free_remote(h, self, at);
}

/*
 * The common case: a slot of a slab of the caller's own.  False: nothing was
 * done.  As in ash_release the comparison of owners tells four things at once;
 * here also that the slab is one of this heap's.
 */
static inline bool release_own(struct heap *h, struct chunk *c, void *p)
{
	struct slab *s = slab_record(c, p);
	uint64_t word, index, group;
	struct owner *o;
	struct seat_entry *t;
	bool done = false;

	o = seats_guess(h, &t);
	if (unlikely(o == NULL))
		return false;
	if (unlikely(load_relaxed(&s->owner) != (uint64_t)(uintptr_t)o) ||
	    unlikely(!slab_index(s, p, &index)))
		goto out;
	group = index / GROUP_SLOTS;
	word = load_relaxed(&s->free[group]);
	if (unlikely(cpu_set_bit(&word, index)) || unlikely(slab_has_event(s, group, word)))
		goto out;
	/* In this order: who takes over from us finishes the release. */
	store_release(&o->flight, (uint64_t)(uintptr_t)p);
	store_release(&s->free[group], word);
	store_release(&o->flight, 0);
	done = true;
out:
	seats_give(t, o);
	return done;
}

static __attribute__((noinline)) void release_slow(struct chunk *c, void *p)
{
	struct heap *h = c->region->heap;
	struct owner *o, *self;
	struct seat_entry *t;
	bool done;

	arenas_gone_with(c, p);
	o = seats_take(h, &t);
	self = o != NULL ? o : seats_self(h);
	if (o != NULL)
		store_release(&o->flight, (uint64_t)(uintptr_t)p);
	done = block_free(h, o, self, c, p);
	if (o != NULL) {
		store_release(&o->flight, 0);
		seats_give(t, o);
	}
	if (!done)
		diagnose(CALL_RELEASE, p);
}

void instance_release(struct chunk *c, void *p)
{
	if (unlikely(c == NULL))
		diagnose(CALL_RELEASE, p);
	if (unlikely(!release_own(c->region->heap, c, p)))
		release_slow(c, p);
}

void *instance_resize(struct chunk *c, void *p, size_t size)
{
	struct heap *h = c->region->heap;
	size_t have = chunk_block(c, p);
	bool fits;
	void *moved;

	arenas_gone_with(c, p);
	if (h->sharing == PAGES_PRIVATE && span_is(c, p) && size > SLOT_MAX) {
		moved = span_resize(c, p, size);
		(void)retain_tick(h, 1); /* it may have got smaller */
		return moved;
	}
	if (span_is(c, p) && size > SLOT_MAX) {
		struct building b = building_begin(h, seats_self(h));

		fits = span_fit(c, size);
		(void)retain_tick(h, 1);
		building_end(b);
	} else {
		fits = !span_is(c, p) && block_fits(have, size);
	}
	if (fits)
		return p;
	moved = instance_alloc(h, size, 1, false);
	if (moved == NULL)
		return size <= have ? p : NULL; /* a smaller block needs no memory */
	memcpy(moved, p, size < have ? size : have);
	instance_release(c, p);
	return moved;
}

/* The chunk of a block that must be the heap's. */
static struct chunk *chunk_in(ash_heap *heap, enum call call, const void *p)
{
	struct chunk *c = map_find(p);

	if (c == NULL || c->region->heap != heap_of(heap))
		misuse_heap(call, p);
	return c;
}

/* Bytes of a block that must be the heap's; 0 for NULL. */
static size_t bytes_in(ash_heap *heap, enum call call, const void *p)
{
	struct arena *f = arena_of(heap);
	size_t bytes;

	if (p == NULL)
		return 0;
	if (f != NULL) {
		if (!arena_has(f, p))
			misuse_heap(call, p);
		bytes = arena_bytes(f, p);
		if (bytes == 0)
			arena_misuse(f, call, p);
		return bytes;
	}
	bytes = chunk_block(chunk_in(heap, call, p), p);
	if (bytes == 0)
		diagnose(call, p);
	return bytes;
}

/* Not the caller's own, or something is to be done besides. */
static __attribute__((noinline)) void heap_release_slow(ash_heap *heap, void *p)
{
	struct arena *f = arena_of(heap);

	if (p == NULL)
		return;
	if (f == NULL)
		release_slow(chunk_in(heap, CALL_RELEASE, p), p);
	else if (!arena_has(f, p))
		misuse_heap(CALL_RELEASE, p);
	else if (!arena_release(f, p))
		arena_misuse(f, CALL_RELEASE, p);
}

FAST void ash_heap_release(ash_heap *heap, void *p)
{
	/* Whatever chunk this is: a slab in it that is ours is compared with p. */
	struct chunk *c = map_guess(p);

	if (unlikely(c == NULL) || unlikely(!release_own(heap_of(heap), c, p)))
		heap_release_slow(heap, p);
}

void ash_heap_release_sized(ash_heap *heap, void *p, size_t size)
{
	size_t have = bytes_in(heap, CALL_RELEASE_SIZED, p);

	if (size > have && p != NULL)
		misuse_size(p, have);
	ash_heap_release(heap, p);
}

void *ash_heap_resize(ash_heap *heap, void *p, size_t size)
{
	struct arena *f = arena_of(heap);

	if (p == NULL)
		return ash_heap_alloc(heap, size);
	(void)bytes_in(heap, CALL_RESIZE, p);
	if (size > PTRDIFF_MAX)
		return NULL;
	return f != NULL ? arena_resize(f, p, size) : instance_resize(map_find(p), p, size);
}

size_t ash_heap_usable_size(ash_heap *heap, const void *p)
{
	return bytes_in(heap, CALL_USABLE_SIZE, p);
}
