/* SPDX-License-Identifier: MIT */
#include "thread/settle.h"

#include "thread/bin.h"
#include "thread/spare.h"
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

void owner_freed(struct owner *o, struct slab *s, uint64_t group, uint64_t word)
{
	bool full = !slab_is_ready(s);

	slab_make_ready(s, (uint32_t)1 << group);
	store_release(&s->free[group], word);
	if (full || word == s->all_free)
		owner_settle(o, s, full);
	if (unlikely(load_relaxed(&o->watch) != WATCH_NONE))
		watch_event(o, s, (unsigned)group);
}

void owner_settle(struct owner *o, struct slab *s, bool was_full)
{
	struct slab_lists *f = &o->lists[s->class];

	if (was_full && s != o->bins[s->class].slab) {
		slabs_remove(&f->full, s);
		slabs_append(&f->partial, s);
	}
	if (s->all_free != 0 && slab_watch(s))
		spares_add(o, s);
}
