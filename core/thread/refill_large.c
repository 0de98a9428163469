/* SPDX-License-Identifier: MIT */
#include "thread/refill.h"

#include "thread/bin.h"
#include "thread/seating.h"
#include "thread/settle.h"

/*
 * Takes a spare of the class that large_freed cached, or returns NULL.  At most two classes have slabs of `count` units
 * (class_widest), unless the heap packs slabs.
 */
static struct slab *spare_take(struct owner *o, unsigned count, unsigned class)
{
	uint32_t some;
	struct slab *s;

	for (some = o->large[count]; some != 0; some &= some - 1) {
		s = o->spares[cpu_lowest_bit(some) - 1];
		if (likely(s->class == class)) {
			spares_remove(o, s);
			return s;
		}
	}
	return NULL;
}

void *large_take(struct owner *o, unsigned class, bool *clean)
{
	unsigned count = class_units(class, true);
	struct slab *s;
	struct units u;

	owner_count(o);
	*clean = false;
	s = spare_take(o, count, class);
	if (s == NULL) {
		fork_notice(o);
		collect_inbox(o);
		if (o->bins[class].partial.head == NULL && o->lost != 0)
			collect_lost(o, class);
		/* A slab that another thread released into is used first. */
		if (unlikely(o->bins[class].partial.head != NULL || slab_packs(o->heap, class)))
			return NULL;
		u = units_claim(o->heap, units_for(class, count), false, false);
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
