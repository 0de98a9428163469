/* SPDX-License-Identifier: MIT */
#include "thread/reap.h"

#include "identity.h"
#include "thread/holder.h"
#include "thread/shrink.h"
#include "thread/takeover.h"

/*
 * The calling thread's ids.  They are entered in its record again, as a child of vfork,
 * which has the same seat, may have entered its own.
 */
static uint64_t identify(struct heap *h, struct owner *o)
{
	uint64_t me = h->sharing == PAGES_PRIVATE ? identity_here() : 0;

	if (o != NULL && me != 0)
		store_relaxed(&o->identity, me);
	return me;
}

static bool holder_is_gone(const struct owner *v, uint64_t state, uint64_t now, uint64_t me)
{
	if (unlikely(v->heap->sharing != PAGES_PRIVATE))
		return heap_hooks_now()->is_dead(v->heap, state);
	/* A guest will vacate the record soon.  Records from before a fork are for fork_settle. */
	return (state & OWNER_GUEST) == 0 && holder_generation(state) == now &&
	       identity_has_ended(load_relaxed(&v->identity), me);
}

/* Reaps n records, from v to the last one at most; returns how many had ended. */
static size_t reap_turn(struct heap *h, struct owner *o, struct owner *v, size_t n)
{
	struct takeover t = takeover_begin();
	uint64_t me = identify(h, o), mine = holder_seated(h), now = generation_now();

	if (v == NULL)
		v = load_acquire(&h->owners);
	for (; v != NULL && n > 0; v = v->next, n--) {
		/* Pairs with the compare-and-swaps of the state: identity is this holder's, or 0. */
		uint64_t state = load_acquire(&v->state);

		if (v != o && state != OWNER_VACANT && state != mine &&
		    holder_is_gone(v, state, now, me) && takeover_add(&t, v, state) &&
		    h->sharing == PAGES_PRIVATE && (v->building & 1) == 0)
			shrink_owner(v); /* its lists are right: its empty slabs go back */
	}
	store_release(&h->reap_next, v);
	return takeover_end(&t);
}

size_t reap_all(struct heap *h, struct owner *o)
{
	return reap_turn(h, o, NULL, SIZE_MAX);
}

void reap_some(struct heap *h, struct owner *o)
{
	/* Acquire pairs with owner_publish: the record is complete. */
	(void)reap_turn(h, o, load_acquire(&h->reap_next), REAP_TURN);
}
