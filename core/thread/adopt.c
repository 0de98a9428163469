/* SPDX-License-Identifier: MIT */
#include "thread/adopt.h"

#include "thread/bin.h"
#include "thread/collect.h"
#include "thread/holder.h"
#include "thread/large.h"
#include "thread/settle.h"

/* A partial slab of v becomes one of o's; both are held. */
static void owner_move(struct owner *v, struct owner *o, struct slab *s)
{
	uint64_t old;

	slabs_remove(&v->lists[s->class].partial, s);
	slabs_append(&o->lists[s->class].partial, s);
	/*
	 * Releasing threads that saw the pending mark told nobody.  If it was
	 * set, we take the mark off with the owner, so we must look ourselves.
	 */
	old = exchange_seq_cst(&s->owner, (uint64_t)(uintptr_t)o);
	if ((old & OWNER_PENDING) != 0)
		owner_collect_slab(o, s);
}

bool owner_adopt(struct owner *o, unsigned class, bool all)
{
	struct owner *v;
	bool any = false;

	for (v = load_acquire(&o->heap->owners); v != NULL; v = v->next) {
		struct slab *s;

		if (v == o || !owner_hold(v))
			continue;
		if (all) {
			owner_collect_all(v);
			o->slabs_seen += v->slabs_seen;
			spares_keep(v, 0); /* those that a vanished thread left */
			if (QUICK)
				large_leave(v);
		} else {
			owner_collect(v);
		}
		bin_rest(v, class);
		while ((s = v->lists[class].partial.head) != NULL) {
			owner_move(v, o, s);
			any = true;
		}
		owner_vacate(v);
		owner_visit(v);
	}
	return any;
}
