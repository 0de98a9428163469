/* SPDX-License-Identifier: MIT */
#include "diagnostics/blocks.h"

#include "backend/chunk.h"
#include "front/diagnose.h"
#include "process.h"
#include "slab/look.h"

bool blocks_span(const struct chunk *c, size_t *chunks, struct block_place *out)
{
	unsigned looks;

	/* Repeated if the span is released or resized during the look, at most 8 times. */
	for (looks = 0; looks < 8 && chunk_is(c, CHUNK_SPAN); looks++) {
		*out = (struct block_place){load_relaxed(&c->base), load_relaxed(&c->span_bytes), c,
					    NULL, 0};
		*chunks = load_relaxed(&c->span_chunks);
		/* Pairs with the release store of the kind of a span that came since. */
		fence_acquire();
		if (chunk_is(c, CHUNK_SPAN) && load_relaxed(&c->base) == out->start &&
		    load_relaxed(&c->span_bytes) == out->size)
			return true;
	}
	return false;
}

static int slab_blocks(struct chunk *c, const struct slab *s, blocks_see *see, void *context)
{
	struct look l = look_begin(s);
	struct look_group words;
	unsigned g, at;
	int answer;

	for (g = 0; g < l.groups; g++) {
		/* Read the words again for each block: `see` may release blocks. */
		for (at = 0; at < GROUP_SLOTS; at++) {
			struct block_place place = {.size = l.size, .chunk = c, .slab = s};

			/* If the slab has gone, so has each block that was in it at the beginning. */
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

static int region_blocks(struct region *r, blocks_see *see, void *context)
{
	size_t chunks = load_relaxed(&r->chunks), i, n;
	struct block_place span;
	const struct slab *s;
	unsigned u;
	int answer = 0;

	for (i = 0; answer == 0 && (i = region_next_known(r, i)) < chunks; i++) {
		struct chunk *c = region_chunk(r, i);

		if (blocks_span(c, &n, &span)) {
			answer = see(context, &span);
			/* Skip its chunks: what lies there now, if not the span, is newer. */
			if (n > 1 && n <= chunks - i)
				i += n - 1;
		} else if (chunk_is(c, CHUNK_SLABS)) {
			for (u = 0; u < CHUNK_UNITS && answer == 0; u++)
				if ((s = slab_beginning(c, u)) != NULL)
					answer = slab_blocks(c, s, see, context);
		}
	}
	return answer;
}

int blocks_walk(struct heap *h, blocks_see *see, void *context)
{
	struct region *r;
	int answer = 0;

	for (r = region_first(h); r != NULL && answer == 0; r = region_next(r))
		if (load_acquire(&r->state) == REGION_LIVE)
			answer = region_blocks(r, see, context);
	return answer;
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

	return w->see(w->context, at->start, at->size, &w->owner);
}

int ash_blocks_visit(ash_heap *heap, blocks_visit *see, void *context)
{
	struct public_walk w = {see, context, {1, 0, true, 0}};

	if (heap != NULL) {
		/* Without hooks there is no such heap. */
		if (heap_hooks_now() == NULL)
			misuse_report(CALL_HEAP_ANY, heap, "not a heap", NULL, 0);
		return heap_hooks_now()->walk(heap, see, context);
	}
	w.owner.pid = (int)process_number();
	return blocks_walk(&heap_default, public_see, &w);
}
