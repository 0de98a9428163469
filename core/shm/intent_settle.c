/* SPDX-License-Identifier: MIT */
#include "shm/intent_settle.h"

#include "backend/map.h"
#include "front/remote.h"
#include "front/slot.h"
#include "front/span.h"
#include "shm/intent.h"
#include "slab/unowned.h"
#include "thread/settle.h"
#include "thread/visit.h"

void own_slot_free(struct owner *v, const struct slot_ref *at, bool whole)
{
	uint64_t word = load_relaxed(&at->slab->free[at->group]) | at->bit;

	if (whole && slab_has_event(at->slab, at->group, word))
		settle_freed(v, at->slab, at->group, word);
	else /* if v is not whole, its hints are rebuilt later (takeover.h) */
		store_release(&at->slab->free[at->group], word);
}

/*
 * Releases the block at p, if it is one and has this tag.  The caller holds v and is
 * building; whole: v's lists and hints are right, and stay so.
 */
static void give(struct owner *v, uint64_t p, uint16_t tag, bool whole)
{
	void *block = (void *)p; /* NOLINT: an address */
	struct heap *h = v->heap;
	struct owner *vacant = NULL;
	struct slot_ref at;

	if (!intent_has_tag(h, p, tag))
		return;
	if (!slot_find(map_find(block), block, &at)) {
		(void)span_release(map_find(block), block);
	} else if (owner_has(v, at.slab)) {
		own_slot_free(v, &at, whole);
	} else if ((load_relaxed(&at.slab->owner) & OWNER_UNOWNED) != 0) {
		/* Pairs with lost_slots: without a tag it is lost, if the caller dies now. */
		store_release(census_tag(at.slab, at.index), TAG_NONE);
		(void)unowned_free(at.slab, at.index);
	} else if (remote_free(&at, &vacant) && vacant != NULL) {
		visit_slab(vacant, at.slab);
	}
}

static void settle(struct owner *v, struct intent *i, bool whole)
{
	struct heap *h = v->heap;
	struct store *s = store_of(h);
	uint16_t tag = intent_tag(s, i);
	uint64_t *slot = (uint64_t *)load_relaxed(&i->slot); /* NOLINT: an address */
	uint64_t mark = intent_mark(s, i), old;

	/* Each step may be repeated, as the caller may die here as well. */
	if (intent_is(i, INTENT_ARMED)) {
		/* Pairs with intent_complete: if a helper took the mark out, the state is DONE. */
		if (load_seq_cst(slot) == mark)
			intent_complete(i, slot, load_relaxed(&i->fresh), mark);
		if (intent_is(i, INTENT_ARMED))
			intent_roll_back(h, i, INTENT_DRAFT);
	}
	if (intent_is(i, INTENT_DRAFT) || intent_is(i, INTENT_CLAIMED))
		give(v, load_relaxed(&i->fresh), tag, whole);
	if (intent_is(i, INTENT_DONE)) {
		intent_complete(i, slot, load_relaxed(&i->fresh), mark);
		old = load_relaxed(&i->old);
		if (old != 0 && intent_tag_block(h, old, tag))
			intent_set(i, INTENT_RELEASING);
	}
	if (intent_is(i, INTENT_RELEASING))
		give(v, load_relaxed(&i->old), tag, whole);
	intent_set(i, INTENT_IDLE);
}

void intents_settle(struct owner *v, bool whole)
{
	unsigned n;

	for (n = 0; n < INTENTS; n++)
		if (!intent_is(&v->intents[n], INTENT_IDLE))
			settle(v, &v->intents[n], whole);
}
