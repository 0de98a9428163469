/* SPDX-License-Identifier: MIT */
#include "shm/block_walk.h"

#include "process.h"
#include "shm/census.h"

#define SEEN 64

/* One walk. */
struct visit {
	struct heap *heap;
	int (*see)(void *context, void *block, size_t size, const struct ash_heap_owner *owner);
	void *context;
	bool ask;		     /* also whether owners live           */
	struct ash_heap_owner owner; /* of the current block */
	/*
	 * The kernel is asked once a walk whether a process lives.  The answer is kept
	 * by life and not by tag, which may be reused meanwhile.
	 */
	struct seen {
		uint64_t life;
		bool live;
	} seen[SEEN];
};

static void visit_owner(struct visit *v, uint16_t tag)
{
	struct seen *seen = &v->seen[tag % SEEN];
	uint64_t life;

	if (v->heap->sharing != PAGES_SHARED)
		return;
	tag &= (uint16_t)~TAG_LEAVING;
	v->owner = (struct ash_heap_owner){tag, 0, false};
	if (tag == TAG_NONE || tag == TAG_UNKNOWN)
		return;
	if (!v->ask)
		return;
	life = load_acquire(&store_of(v->heap)->census[tag - 1]);
	v->owner.pid = (int)LIFE_ID(life);
	if (life == 0 || (life & CENSUS_OVER) != 0)
		return;
	if (seen->life != life)
		*seen = (struct seen){life, !census_is_over(store_of(v->heap), tag - 1u, life)};
	v->owner.live = seen->live;
}

static int visit_slab(struct visit *v, const struct slab *s)
{
	bool unowned = slab_is_unowned(s);
	size_t size = load_relaxed(&s->slot_size);
	unsigned g;

	if (!slab_words_valid(s))
		return 0;
	for (g = 0; g < load_relaxed(&s->groups); g++) {
		/* The remote word first, as in slot_is_taken. */
		uint64_t remote = unowned ? 0 : load_acquire(&load_relaxed(&s->remote)[g]);
		uint64_t taken = slab_group_mask(s, g) & ~(load_acquire(&s->free[g]) | remote);

		/* The visitor may release a block, and so unmake the slab. */
		if (!slab_words_valid(s))
			return 0;
		for (; taken != 0; taken = bits_without_lowest(taken)) {
			size_t index = g * GROUP_SLOTS + bits_lowest(taken);
			int answer;

			visit_owner(v, v->heap->sharing == PAGES_SHARED
					       ? load_relaxed(census_tag(s, index))
					       : TAG_NONE);
			answer = v->see(v->context, load_relaxed(&s->base) + index * size, size,
					&v->owner);
			if (answer != 0)
				return answer;
		}
	}
	return 0;
}

static int visit_region(struct visit *v, struct region *r)
{
	size_t chunks = load_relaxed(&r->chunks), i;
	const struct slab *s;
	unsigned u;
	int answer = 0;

	for (i = 0; i < chunks && answer == 0; i++) {
		struct chunk *c = region_chunk(r, i);

		if (chunk_is(c, CHUNK_SPAN)) {
			visit_owner(v, (uint16_t)load_relaxed(&c->clean));
			answer = v->see(v->context, load_relaxed(&c->base),
					load_relaxed(&c->span_bytes), &v->owner);
		} else if (chunk_is(c, CHUNK_SLABS)) {
			for (u = 0; u < CHUNK_UNITS && answer == 0; u++)
				if ((s = slab_beginning(c, u)) != NULL)
					answer = visit_slab(v, s);
		}
	}
	return answer;
}

int block_walk(struct heap *h, bool ask,
	       int (*see)(void *, void *, size_t, const struct ash_heap_owner *), void *context)
{
	struct visit v = {.heap = h, .see = see, .context = context, .ask = ask};
	struct region *r;
	int answer = 0;

	v.owner = (struct ash_heap_owner){1, (int)process_number(), true};
	for (r = load_acquire(&v.heap->regions); r != NULL && answer == 0; r = r->next)
		if (load_acquire(&r->state) == REGION_LIVE)
			answer = visit_region(&v, r);
	return answer;
}
