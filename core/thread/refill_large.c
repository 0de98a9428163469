/* SPDX-License-Identifier: MIT */
#include "thread/refill.h"

#include "thread/bin.h"
#include "thread/seating.h"
#include "thread/settle.h"

void *large_take(struct owner *o, unsigned class, bool *clean)
{
	uint32_t some = o->large[class];
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
		u = units_claim(o->heap, units_for(class, class_units(class, true)), false, false);
		if (unlikely(u.chunk == NULL))
			return NULL; /* the caller gives spares back before refill_bin grows the heap */
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
