/* SPDX-License-Identifier: MIT */
#include "shm/block_walk.h"

#include "diagnostics/blocks.h"
#include "process.h"
#include "shm/census.h"
#include "shm/intent.h"
#include "shm/kinds.h"

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

	v->owner = (struct ash_heap_owner){tag, 0, false, 0};
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

static uint16_t tag_of(const struct chunk *c, const struct slab *s, size_t index)
{
	return s != NULL ? load_relaxed(census_tag(s, index)) : (uint16_t)load_relaxed(&c->clean);
}

/* True: a block of the heap's own, which the program has never seen. */
static bool block_is_own(const struct chunk *c, const struct slab *s, size_t index)
{
	return tag_of(c, s, index) == TAG_OWN;
}

uint64_t block_owner(const struct chunk *c, const struct slab *s, size_t index)
{
	uint16_t tag = tag_of(c, s, index);

	if ((tag & TAG_LEAVING) != 0)
		return intent_owner(store_of(load_relaxed(&c->region)->heap), tag);
	return tag & TAG_PROCESS;
}

static int visit_block(void *context, const struct block_place *at)
{
	struct visit *v = context;

	if (v->heap->sharing == PAGES_SHARED) {
		if (block_is_own(at->chunk, at->slab, at->index))
			return 0;
		visit_owner(v, (uint16_t)block_owner(at->chunk, at->slab, at->index));
		v->owner.tag = kind_of(v->heap, at);
	}
	return v->see(v->context, at->start, at->size, &v->owner);
}

int block_walk(struct heap *h, bool ask,
	       int (*see)(void *, void *, size_t, const struct ash_heap_owner *), void *context)
{
	struct visit v = {.heap = h, .see = see, .context = context, .ask = ask};

	v.owner = (struct ash_heap_owner){1, (int)process_number(), true, 0};
	return blocks_walk(h, visit_block, &v);
}
