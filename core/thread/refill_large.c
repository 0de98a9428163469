/* SPDX-License-Identifier: MIT */
#include "thread/refill.h"

#include "thread/bin.h"
#include "thread/seating.h"
#include "thread/settle.h"

/*
 * Takes a spare of `count` units that large_freed cached.  Returns NULL if there is no such spare, or if the first spare
 * is of the other class of as many units (class_widest).
 */
static struct slab *spare_take(struct owner *o, unsigned count, unsigned class)
{
	uint32_t some = o->large[count];
	struct slab *s;

	if (some == 0)
		return NULL;
	s = o->spares[cpu_lowest_bit(some) - 1];
	if (s->class != class)
		return NULL;
	spares_remove(o, s);
	return s;
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
