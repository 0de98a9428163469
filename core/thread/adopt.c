/* SPDX-License-Identifier: MIT */
#include "thread/adopt.h"

#include "thread/bin.h"
#include "thread/collect.h"
#include "thread/holder.h"

/* Moves a slab from v's partial list to o's; the caller holds both records. */
static void adopt_slab(struct owner *v, struct owner *o, struct slab *s)
{
	uint64_t old;

	slabs_remove(&v->lists[s->class].partial, s);
	slabs_append(&o->lists[s->class].partial, s);
	/*
	 * The exchange clears the pending bit with the owner.  Threads that released into
	 * the slab while the bit was set made no inbox entry, so the remote bits must be
	 * collected here.
	 */
	old = exchange_seq_cst(&s->owner, (uint64_t)(uintptr_t)o);
	if ((old & OWNER_PENDING) != 0)
		collect_slab(o, s);
}

void adopt_slabs(struct owner *o, unsigned class, bool all)
{
	struct owner *v;

	for (v = load_acquire(&o->heap->owners); v != NULL; v = v->next) {
		struct slab *s;

		if (v == o || !owner_hold(v))
			continue;
		if (all) {
			collect_all(v);
			o->slabs_seen += v->slabs_seen;
		} else {
			collect_inbox(v);
		}
		bin_detach(v, class);
		while ((s = v->lists[class].partial.head) != NULL)
			adopt_slab(v, o, s);
		owner_vacate(v);
		collect_vacant(v);
	}
}
