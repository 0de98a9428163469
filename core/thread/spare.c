/* SPDX-License-Identifier: MIT */
/* Spares: empty slabs that an owner keeps for a while. */
#include "thread/watch.h"

/* Empty and no spare any more: out of its place, back to the heap. */
static void slab_leave(struct owner *o, struct slab *s)
{
	struct bin *b = &o->bins[s->class];

	if (s == b->slab)
		bin_rest(o, s->class); /* to the list */
	if (!slab_take(s))
		return; /* somebody purges it: it stays on its list */
	slabs_remove(&o->lists[s->class].partial, s);
	slab_unmake(o->heap, s);
	o->strays = 0; /* see watch_event */
	watch_look(o);
}

static void spares_drop(struct owner *o, unsigned i)
{
	o->spares[i]->spare = false;
	for (o->spare_count--; i < o->spare_count; i++)
		o->spares[i] = o->spares[i + 1];
}

void spares_forget(struct owner *o, struct slab *s)
{
	unsigned i;

	for (i = 0; i < o->spare_count; i++)
		if (o->spares[i] == s) {
			spares_drop(o, i);
			return;
		}
}

void spares_keep(struct owner *o, unsigned units)
{
	unsigned have = 0, i;

	/* From the youngest to the oldest: what fits stays, and leaves a place for one more. */
	for (i = o->spare_count; i-- > 0;) {
		struct slab *s = o->spares[i];

		have += s->units;
		if (have <= units && (i > 0 || o->spare_count < SPARES))
			continue;
		spares_drop(o, i);
		/* It may have been allocated from since, if it is a current one. */
		if (slab_watch(s))
			slab_leave(o, s);
	}
}

void spares_add(struct owner *o, struct slab *s)
{
	if (o->no_spares) {
		slab_leave(o, s);
		return;
	}
	/* The youngest stays, however large. */
	spares_keep(o, s->units < SPARE_UNITS ? SPARE_UNITS - s->units : 0);
	o->spares[o->spare_count++] = s;
	s->spare = true;
	s->all_free = 0; /* watched no more: it may be used and get empty again */
}
