/* SPDX-License-Identifier: MIT */
#include "thread/adopt.h"

#include "thread/bin.h"
#include "thread/collect.h"
#include "thread/holder.h"
#include "thread/visit.h"

/* Moves a slab from one record's list to that of the same class of o; the caller holds both records. */
static void adopt_slab(struct slabs *from, struct owner *o, struct slab *s)
{
	slabs_remove(from, s);
	slabs_append(&o->bins[s->class].partial, s);
	/*
	 * The exchange clears the pending bit with the owner.  Threads that released into
	 * the slab while the bit was set made no inbox entry, so the remote bits must be
	 * collected here.
	 */
	(void)exchange_seq_cst(&s->owner, (uint64_t)(uintptr_t)o);
	collect_slab(o, s);
}

void adopt_slabs(struct owner *o, unsigned class, unsigned n)
{
	/* Acquire, here and below, pairs with owner_publish: the record is complete. */
	struct owner *v = n == ADOPT_ALL ? NULL : load_acquire(&o->heap->adopt_next);

	if (v == NULL)
		v = load_acquire(&o->heap->owners);
	for (; v != NULL && n > 0; v = v->next) {
		struct slabs *l = &v->bins[class].partial;

		n--;
		if (!owner_hold(v)) /* such as o */
			continue;
		collect_inbox(v);
		bin_detach(v, class);
		for (; n > 0 && l->head != NULL; n--)
			adopt_slab(l, o, l->head);
		visit_end(v);
	}
	store_release(&o->heap->adopt_next, v);
}
