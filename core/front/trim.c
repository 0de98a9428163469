/* SPDX-License-Identifier: MIT */
/* Giving memory back to the system on request, at once or in steps. */
#include "ashlar.h"
#include "backend/chunk.h"
#include "backend/region.h"
#include "backend/retain.h"
#include "base/bits.h"
#include "slab/look.h"
#include "slab/unowned.h"
#include "thread/refill.h"
#include "thread/seating.h"
#include "thread/settle.h"

#define STEP_LOOK ((size_t)16 << 10) /* of a budget, for a look at a chunk without slabs, as in retain.c */
#define STEP_PART ((size_t)8 << 20)  /* of a budget, for a part of the due memory                        */

/* The number of chunks that were visited in this round, counted as retained_trim does. */
static uint64_t step_hand;

/* Returns the chunk at the hand.  The region is NULL if all chunks were visited. */
static struct run step_chunk(struct heap *h, uint64_t hand)
{
	struct run run = {region_first(h), 0};
	struct region *next;
	size_t n = 0;

	while (run.region != NULL && (next = region_next(run.region)) != NULL)
		run.region = next;
	for (; run.region != NULL && hand >= (n = load_relaxed(&run.region->chunks)); run.region = run.region->previous)
		hand -= n;
	run.first = n - 1 - hand;
	return run;
}

/* Returns an empty slab to its chunk if the slab is unowned, vacant or the caller's; otherwise purges inside the slab. */
static void step_slab(struct heap *h, struct owner *o, struct slab *s)
{
	struct owner *v = slab_owner(s);
	size_t room = 0;

	if (slab_is_unowned(s))
		(void)unowned_unmake(h, s);
	if (slab_is_unowned(s) || o == NULL || v == NULL)
		return;
	if (v == o)
		shrink_slab(o, s);
	else
		reap_one(v, o);
	if (load_relaxed(&v->state) == OWNER_VACANT)
		visit_slab(v, s);
	(void)slabs_purge_held(h, s, &room);
}

/* Looks at the next chunk, and adds the cost.  Returns the number of chunks that are left, or 0 if the round has ended. */
static uint64_t step_next(struct heap *h, struct owner *o, size_t *cost)
{
	uint64_t hand = load_relaxed(&step_hand), before = hand, reserved = load_relaxed(&h->reserved);
	struct run run = step_chunk(h, hand);
	struct slab *s;
	unsigned unit;

	*cost += STEP_LOOK;
	if (run.region == NULL) {
		store_relaxed(&h->refused, 0); /* as in heap_give_back */
		(void)region_trim(h, false);
		hand = 0;
	} else {
		if (run.region->remote != NULL && bits_all(run.region->known, run.first, 1) &&
		    chunk_is(run_chunk(run), CHUNK_SLABS)) {
			*cost += CHUNK_SIZE;
			/*
			 * Not while more memory is due than one slow operation purges, because each retired slab
			 * would purge that much.
			 */
			for (unit = 0; load_relaxed(&h->due_at) == 0 && (s = walk_slab(run_chunk(run), &unit)) != NULL;)
				step_slab(h, o, s);
			chunk_mend(h, run_chunk(run));
		}
		if (load_relaxed(&h->due_at) == 0) {
			(void)retain_step(h, hand++);
		} else {
			*cost += STEP_PART;
			retain_tick(h, 0);
		}
	}
	/* Pairs with nothing, because the hand is a hint.  If two threads are at a chunk, one of them goes on. */
	(void)cas_acquire(&step_hand, &before, hand);
	return run.region == NULL ? 0 : reserved > before ? reserved - before : 1;
}

size_t ash_trim_step(size_t budget)
{
	struct owner *o;
	size_t left = 0, cost = 0;

	quarantine_empty(); /* as bounded as a step */
	o = seat_take();
	if (o != NULL)
		fork_notice(o);
	while ((left = step_next(&heap_default, o, &cost)) != 0 && cost < budget)
		;
	if (o != NULL)
		seat_give(o);
	return left * CHUNK_SIZE;
}

size_t ash_trim(size_t keep)
{
	struct owner *o;
	size_t bytes;

	quarantines_empty();
	o = seat_take();
	bytes = heap_hooks_now() != NULL ? heap_hooks_now()->trim() : 0;
	bytes += heap_give_back(&heap_default, o, keep);
	if (o != NULL)
		seat_give(o);
	return bytes;
}
