/* SPDX-License-Identifier: MIT */
#include "store/recover/recover.h"

#include "store/allocator.h"
#include "store/recover/builders.h"
#include "store/recover/census.h"
#include "store/recover/holds.h"
#include "store/recover/intent.h"

/* Releases a taken slot of v's own slab, after the holder is gone.  For `whole` see intents_settle. */
static void own_slot_free(struct owner *v, const struct slot_ref *at, bool whole)
{
	uint64_t word = load_relaxed(&at->slab->free[at->group]) | at->bit;

	if (!whole) /* the hints are rebuilt later (seating.h) */
		store_release(&at->slab->free[at->group], word);
	else if (!slab_give(at->slab, at->group, word))
		settle_freed(v, at->slab, at->group, word);
}

/*
 * Releases the block at p, if there is such a block with this tag.  The caller holds v and is building.  `whole`
 * means that v's lists and hints are right, and stay right.
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
		/* Pairs with seems_lost: without a tag the slot is lost if the caller dies now. */
		holds_note(h, hold_slot(at.slab, at.index), true);
		store_release(census_tag(at.slab, at.index), TAG_NONE);
		(void)unowned_free(at.slab, at.index);
		holds_note(h, hold_slot(at.slab, at.index), false);
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

	/* Each step may be repeated, because the caller may die here as well. */
	if (intent_is(i, INTENT_ARMED)) {
		/* Pairs with intent_complete: if a helper removed the mark, the state is DONE. */
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
		if (!intent_is(&truth_of(v)->intents[n], INTENT_IDLE))
			settle(v, &truth_of(v)->intents[n], whole);
}

uint64_t recover_holder(struct heap *h)
{
	return lives_thread(h) << OWNER_THREAD | OWNER_HELD;
}

bool recover_is_dead(struct heap *h, uint64_t holder)
{
	return lives_thread_is_over(store_of(h), holder >> OWNER_THREAD);
}

/* Releases the slot in flight.  No other thread has its address. */
static void land(struct owner *v, void *p)
{
	struct chunk *c = region_find(v->heap, p);
	struct owner *vacant;
	struct slot_ref at;

	if (c == NULL || !slot_find(c, p, &at) || !slot_is_taken(&at))
		return;
	if (owner_has(v, at.slab)) {
		own_slot_free(v, &at, false);
		return;
	}
	/*
	 * If the slab has another owner, the slot was being released, and the tag says so.  If the slot was released
	 * and is now another block, the tag is that of another thread.
	 */
	if (load_relaxed(census_tag(at.slab, at.index)) != census_leaving(v) ||
	    (load_relaxed(&at.slab->owner) & OWNER_UNOWNED) != 0)
		return;
	(void)remote_free(&at, &vacant);
	if (vacant != NULL)
		visit_slab(vacant, at.slab);
}

void recover_settle(struct owner *v)
{
	holds_drop(holds_of(v), 0); /* dead threads hold nothing */
	/* Each step may be repeated, because the caller may die here as well. */
	if (truth_of(v)->flight != 0)
		land(v, (void *)truth_of(v)->flight); /* NOLINT: an address */
	truth_of(v)->flight = 0;
	intents_settle(v, false);
	/* Release pairs with store_lost: the holder's stores are seen there. */
	if ((load_relaxed(&v->building) & LISTS_CHANGING) != 0)
		fetch_add_acq_rel(&store_of(v->heap)->deaths, 1);
}

void recover_search(struct heap *h, struct owner *o)
{
	struct store *s = store_of(h);

	strangers_bury(s);
	if (store_lost(s) != 0)
		lost_memory_return(s, o);
}
