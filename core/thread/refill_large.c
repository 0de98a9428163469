/* SPDX-License-Identifier: MIT */
#include "thread/refill.h"

#include "thread/bin.h"
#include "thread/seating.h"
#include "thread/settle.h"

void *large_take(struct owner *o, unsigned class, bool *clean)
{
	uint32_t some = o->large[class];
	unsigned want;
	struct slab *s;
	struct units u;

	owner_count(o);
	*clean = false;
	if (some != 0) {
		s = o->spares[cpu_lowest_bit(some) - 1];
		spares_remove(o, s);
	} else {
		fork_notice(o);
		collect_inbox(o);
		if (o->bins[class].partial.head == NULL && o->lost != 0)
			collect_lost(o, class);
		/* A slab that another thread released into is used first. */
		if (unlikely(o->bins[class].partial.head != NULL || slab_packs(o->heap, class)))
			return NULL;
		want = units_for(class, class_units(class, true));
		u = units_claim(o->heap, want, false, false);
		/* Before the heap grows, spares give their units back; not while due memory is purged, see refill_bin. */
		if (u.chunk == NULL && o->spare_units != 0 && load_relaxed(&o->heap->due_at) == 0) {
			spares_reduce(o, 0);
			u = units_claim(o->heap, want, false, false);
		}
		if (unlikely(u.chunk == NULL))
			return NULL;
		s = large_open(o, u, class);
		*clean = u.clean;
	}
	large_use(s);
	return s->base;
}

void large_freed(struct owner *o, struct slab *s)
{
	store_release(&s->free[0], 1);
	spares_add(o, s);
}
