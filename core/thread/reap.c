/* SPDX-License-Identifier: MIT */
#include "thread/reap.h"

#include "identity.h"
#include "thread/holder.h"
#include "thread/takeover.h"

#define ALL UINT64_MAX

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

/* Reaps record number `turn`, or all.  True: there was such a record. */
static bool reap_turn(struct heap *h, struct owner *o, uint64_t turn, size_t *records)
{
	struct takeover t = takeover_begin(h);
	uint64_t me = identify(h, o), mine = holder_seated(h), now = generation_now(), i = 0;
	struct owner *v;

	for (v = load_acquire(&h->owners); v != NULL && i <= turn; v = v->next, i++) {
		/* Pairs with the compare-and-swaps of the state: identity is this holder's, or 0. */
		uint64_t state = load_acquire(&v->state);

		if ((turn == ALL || i == turn) && v != o && state != OWNER_VACANT && state != mine &&
		    holder_is_gone(v, state, now, me))
			(void)takeover_add(&t, v, state);
	}
	*records = takeover_end(&t);
	return v != NULL || i > turn;
}

size_t reap_all(struct heap *h, struct owner *o)
{
	size_t records;

	(void)reap_turn(h, o, ALL, &records);
	return records;
}

void reap_some(struct heap *h, struct owner *o)
{
	uint64_t chunks = load_relaxed(&h->slab_chunks), turn;
	size_t records;

	if (chunks >= 2 * load_relaxed(&h->chunks_reaped)) {
		store_relaxed(&h->chunks_reaped, chunks);
		(void)reap_all(h, o);
		return;
	}
	turn = fetch_add_relaxed(&h->reap_next, 1);
	if (!reap_turn(h, o, turn, &records))
		store_relaxed(&h->reap_next, 0);
}
