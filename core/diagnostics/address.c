/* SPDX-License-Identifier: MIT */
/* ash_find: what an address is. */
#include "front/diagnose.h"

#include "backend/chunk.h"
#include "base/class.h"
#include "diagnostics/blocks.h"
#include "process.h"
#include "slab/look.h"
#include "thread/holder.h"
#include "thread/seat.h"

/*
 * A look is repeated if its slab or span changed meanwhile.  No more often than this: a
 * thread may be stopped while it makes a slab.
 */
#define FIND_LOOKS 8

/* False: the slab has gone since. */
static bool look_for_slot(const void *p, struct slab *s, struct ash_block *b, struct block_place *at)
{
	struct look l = look_begin(s);
	size_t offset = (size_t)((const char *)p - l.base), index;
	struct look_group words;
	bool within;

	if (l.slots == 0)
		return false;
	if ((const char *)p < l.base) { /* before the first slot, see slab_gap */
		b->place = ASH_UNUSED;
		return true;
	}
	index = offset / l.size;
	within = index < l.slots;
	at->slab = s;
	at->index = within ? index : l.slots - 1;
	b->start = l.base + at->index * l.size;
	b->size = l.size;
	b->row = l.class;
	if (!look_at_group(&l, (unsigned)at->index / GROUP_SLOTS, &words))
		return false;
	if (!within)
		b->place = ASH_UNUSED;
	else
		b->place = (words.taken >> (index % GROUP_SLOTS)) & 1 ? ASH_TAKEN : ASH_FREE;
	return true;
}

/* False: the span has gone, or was resized, since. */
static bool look_for_span(const void *p, const struct found *f, struct ash_block *b)
{
	struct block_place span;
	size_t chunks;

	if (!blocks_span(f->chunk, &chunks, &span) || span.start != f->start)
		return false;
	b->start = span.start;
	b->size = span.size;
	b->row = CLASSES;
	b->place = (size_t)((const char *)p - b->start) < b->size ? ASH_TAKEN : ASH_UNUSED;
	return true;
}

static void look_for_address(const void *p, struct ash_block *b, struct block_place *at)
{
	struct found f;
	unsigned looks;

	for (looks = 0; looks < FIND_LOOKS; looks++) {
		find_address(p, &f);
		*b = (struct ash_block){.place = f.place};
		*at = (struct block_place){.chunk = f.chunk};
		if (f.slab != NULL ? look_for_slot(p, f.slab, b, at)
				   : f.chunk == NULL || look_for_span(p, &f, b))
			break;
		*b = (struct ash_block){.place = ASH_UNUSED};
	}
	if (b->start != NULL)
		b->offset = (size_t)((const char *)p - b->start);
}

/* The id of the thread that the slab belongs to; 0: unknown, or there is none. */
static int thread_of(const struct slab *s)
{
	uint64_t word = load_acquire(&s->owner), state, identity; /* pairs with slab_open */
	const struct owner *o = (const struct owner *)(uintptr_t)(word & ~OWNER_FLAGS);

	if (o == NULL || (state = load_acquire(&o->state)) == OWNER_VACANT)
		return 0;
	if (holder_number(state) == holder_number(holder_here()))
		return (int)process_thread();
	identity = load_relaxed(&o->identity);
	/* A child of fork has records of its parent's threads. */
	return identity >> 32 == process_number() ? (int)(uint32_t)identity : 0;
}

enum ash_place ash_find(const void *p, struct ash_block *out)
{
	struct block_place at;
	struct heap *h;

	if (seat.record > SEAT_BUSY)
		holder_note(seat.record); /* for calls of others */
	look_for_address(p, out, &at);
	if (out->start != NULL) {
		h = load_relaxed(&at.chunk->region)->heap;
		out->heap = h == &heap_default ? NULL : (struct ash_heap *)(void *)h;
		out->owner = out->place == ASH_TAKEN;
		if (at.slab != NULL && heap_kind(h)->own_records)
			out->thread = thread_of(at.slab);
	}
	if (heap_hooks_now() != NULL)
		heap_hooks_now()->find(p, &at, out);
	return out->place;
}

#if IS_MALLOC
/* For malloc_object_size: see core/malloc/facade.h. */
INTERNAL size_t ash_object_size(const void *p);

size_t ash_object_size(const void *p)
{
	struct block_place at;
	struct ash_block b;

	look_for_address(p, &b, &at);
	if (b.place == ASH_TAKEN)
		return b.size - b.offset;
	return b.place == ASH_FOREIGN && p != NULL ? SIZE_MAX : 0;
}
#endif
