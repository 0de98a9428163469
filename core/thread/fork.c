/* SPDX-License-Identifier: MIT */
#include "thread/fork.h"

#include "thread/takeover.h"
#include "thread/collect.h"
#include "thread/seat.h"

void fork_watch(struct heap *h)
{
	if (h->sharing == PAGES_PRIVATE)
		generation_watch();
}

void fork_settle(struct owner *o, uint64_t generation)
{
	struct heap *h = o->heap;
	struct takeover t = takeover_begin(h);
	struct owner *v;

	/* It is for the one that forked, and not in the middle of a visit. */
	if (seat.guest != 0 || !holder_has_forked())
		return;
	/* Ours first: should we be forked in the middle of this, it must not look lost. */
	store_relaxed(&o->identity, 0);
	store_release(&o->state, holder_seated(h));
	holder_identify(o);
	for (v = load_acquire(&h->owners); v != NULL; v = v->next) {
		uint64_t state = load_acquire(&v->state);

		if (v != o && state != OWNER_VACANT && holder_generation(state) < generation)
			(void)takeover_add(&t, v, state);
	}
	(void)takeover_end(&t);
	/* What vanished threads had released to us, but had not told yet. */
	owner_collect_all(o);
	store_release(&h->settled, generation);
}
