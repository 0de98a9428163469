/* SPDX-License-Identifier: MIT */
#include "diagnostics/blocks.h"

#include "backend/chunk.h"
#include "backend/shared.h"
#include "base/class.h"
#include "front/block.h"
#include "front/diagnose.h"
#include "front/variant.h"
#include "process.h"
#include "slab/look.h"
#include "thread/seat.h"

bool blocks_span(const struct chunk *c, size_t *chunks, struct block_place *out)
{
	unsigned looks;

	/* The look is repeated, at most 8 times, if the span is released or resized during it. */
	for (looks = 0; looks < 8 && chunk_is(c, CHUNK_SPAN); looks++) {
		*out = (struct block_place){load_relaxed(&c->base), load_relaxed(&c->span_bytes), c,
					    NULL, 0};
		*chunks = load_relaxed(&c->span_chunks);
		/* Pairs with the release store of the kind of a newer span. */
		fence_acquire();
		if (chunk_is(c, CHUNK_SPAN) && load_relaxed(&c->base) == out->start &&
		    load_relaxed(&c->span_bytes) == out->size)
			return true;
	}
	return false;
}

static int slab_blocks(const struct chunk *c, const struct slab *s, blocks_see *see, void *context)
{
	struct look l = look_begin(s);
	struct look_group words;
	unsigned g, at;
	int answer;

	for (g = 0; g < l.groups; g++) {
		/* The words are read again for each block, because `see` may release blocks. */
		for (at = 0; at < GROUP_SLOTS; at++) {
			struct block_place place = {.size = l.size, .chunk = c, .slab = s};

			/* If the slab was unmade, each block that was in it at the beginning has gone, too. */
			if (!look_at_group(&l, g, &words))
				break;
			words.taken = words.taken >> at << at;
			if (words.taken == 0)
				break;
			at = bits_lowest(words.taken);
			place.index = (size_t)g * GROUP_SLOTS + at;
			place.start = l.base + place.index * l.size;
			answer = see(context, &place);
			if (answer != 0)
				return answer;
		}
	}
	return 0;
}

static int region_walk(struct region *r, blocks_part *see, void *context)
{
	size_t chunks = load_relaxed(&r->chunks), i, n;
	struct block_place at;
	unsigned u;
	int answer = 0;

	for (i = 0; answer == 0 && (i = region_next_known(r, i)) < chunks; i++) {
		struct chunk *c = region_chunk(r, i);

		if (blocks_span(c, &n, &at)) {
			answer = see(context, &at, n);
			/* Skip the span's chunks: any other blocks there are newer. */
			if (n > 1 && n <= chunks - i)
				i += n - 1;
		} else if (chunk_is(c, CHUNK_SLABS)) {
			at = (struct block_place){.chunk = c};
			for (u = 0; answer == 0 && (at.slab = walk_slab(c, &u)) != NULL;)
				answer = see(context, &at, 0);
		}
	}
	return answer;
}

int blocks_parts(struct heap *h, blocks_part *see, void *context)
{
	struct region *r;
	int answer = 0;

	for (r = region_first(h); r != NULL && answer == 0; r = region_next(r))
		if (load_acquire(&r->state) == REGION_LIVE)
			answer = region_walk(r, see, context);
	return answer;
}

struct block_walk {
	blocks_see *see;
	void *context;
};

static int see_part(void *walk, const struct block_place *at, size_t chunks)
{
	const struct block_walk *w = walk;

	return chunks != 0 ? w->see(w->context, at) : slab_blocks(at->chunk, at->slab, w->see, w->context);
}

int blocks_walk(struct heap *h, blocks_see *see, void *context)
{
	struct block_walk w = {see, context};

	return blocks_parts(h, see_part, &w);
}

/* ---- the nearest block ---- */

struct nearest {
	uintptr_t p;
	size_t distance;
	struct found *out;
};

static int see_nearest(void *context, const struct block_place *at)
{
	struct nearest *n = context;
	uintptr_t start = (uintptr_t)at->start;
	size_t distance = n->p < start ? start - n->p : n->p - start - at->size;

	if (distance < n->distance) {
		n->distance = distance;
		n->out->start = at->start;
		n->out->size = at->size;
	}
	return 0;
}

void ash_blocks_nearest(const void *p, struct found *out)
{
	struct nearest n = {(uintptr_t)p, SIZE_MAX, out};

	(void)blocks_walk(&heap_default, see_nearest, &n);
}

/* ---- for ash_heap_walk ---- */

struct public_walk {
	blocks_visit *see;
	void *context;
	struct ash_heap_owner owner;
};

static int public_see(void *walk, const struct block_place *at)
{
	struct public_walk *w = walk;
	size_t size;

	return block_peek(at, &size) ? w->see(w->context, at->start, size, &w->owner) : 0;
}

int ash_blocks_visit(ash_heap *heap, blocks_visit *see, void *context)
{
	struct public_walk w = {see, context, {1, 0, true, 0}};

	if (heap != NULL) {
		/* Without hooks there is no heap with this address. */
		if (heap_hooks_now() == NULL)
			misuse_report(CALL_HEAP_ANY, heap, "not a heap", NULL, 0);
		return heap_hooks_now()->walk(heap, see, context);
	}
	w.owner.pid = (int)process_number();
	quarantine_empty();
	return blocks_walk(&heap_default, public_see, &w);
}

/* ---- ash_find ---- */

/*
 * A look is repeated if its slab or span changed during the look.  The number is limited, because a thread may be
 * stopped while it makes a slab.
 */
#define FIND_LOOKS 8

/* Returns false if the slab was unmade since. */
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

/* Returns false if the span was released or resized since. */
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

void blocks_look(const void *p, bool live, struct ash_block *b, struct block_place *at)
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
	block_look(b, at, live);
}

/* Returns the id of the thread that the slab belongs to, or 0 if there is no such thread or it is unknown. */
static int thread_of(const struct slab *s)
{
	uint64_t word = load_acquire(&s->owner), state, identity; /* pairs with slab_open */
	const struct owner *o = (const struct owner *)(uintptr_t)(word & ~OWNER_FLAGS);

	if (o == NULL || (state = load_acquire(&o->state)) == OWNER_VACANT)
		return 0;
	if (holder_number(state) == holder_number(holder_here()))
		return (int)process_thread();
	identity = load_relaxed(&o->identity);
	/* A child of fork has records of the parent's threads. */
	return identity >> 32 == process_number() ? (int)(uint32_t)identity : 0;
}

enum ash_place ash_find(const void *p, struct ash_block *out)
{
	struct block_place at;
	struct heap *h;

	if (seat.record > SEAT_BUSY)
		holder_note(seat.record); /* for the calls of other threads */
	blocks_look(p, false, out, &at);
	if (out->start != NULL) {
		h = chunk_heap(at.chunk);
		out->heap = h == &heap_default ? NULL : (struct ash_heap *)(void *)h;
		out->owner = out->place == ASH_TAKEN;
		if (!heap_kind(h)->own_records)
			out->owner = out->place == ASH_TAKEN ? shared_hooks_now()->block_owner(&at) : 0;
		else if (at.slab != NULL)
			out->thread = thread_of(at.slab);
	}
	if (heap_hooks_now() != NULL)
		heap_hooks_now()->find(p, out);
	return out->place;
}
