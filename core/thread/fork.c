/* SPDX-License-Identifier: MIT */
#include "thread/fork.h"

#include "thread/seat.h"
#include "thread/takeover.h"

void fork_watch(struct heap *h)
{
	if (h->sharing == PAGES_PRIVATE)
		generation_watch();
}

void fork_settle(struct owner *o, uint64_t generation)
{
	struct heap *h = o->heap;
	struct takeover t = takeover_begin();
	struct owner *v;

	/* For the thread that forked, unless an outer frame of it holds a record as a guest. */
	if (seat.guest != 0 || !holder_has_forked())
		return;
	/*
	 * The caller's own record first: if a handler forks during the takeover, this record
	 * must not look lost in the next child.
	 */
	store_relaxed(&o->identity, 0);
	store_release(&o->state, holder_seated(h));
	holder_identify(o);
	for (v = load_acquire(&h->owners); v != NULL; v = v->next) {
		uint64_t state = load_acquire(&v->state);

		if (v != o && state != OWNER_VACANT && holder_generation(state) < generation)
			(void)takeover_add(&t, v, state);
	}
	(void)takeover_end(&t);
	/* Pairs with fork_notice: a thread that sees it sees the records of lost threads vacant. */
	store_release(&h->settled, generation);
}

void fork_notice(struct owner *o)
{
	uint64_t generation;

	if (o->heap->sharing != PAGES_PRIVATE)
		return; /* a child gets records of its own there */
	generation = generation_now();
	/* Pairs with the release in fork_settle. */
	if (unlikely(load_acquire(&o->heap->settled) != generation))
		fork_settle(o, generation);
	/* The first record is made before forks are noticed. */
	if (unlikely(o->identity == 0) && generation_is_watched())
		holder_identify(o);
}
