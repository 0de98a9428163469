/* SPDX-License-Identifier: MIT */
#include "thread/settle.h"

#include "thread/bin.h"
#include "thread/spare.h"
#include "thread/watch.h"

void slab_retire(struct owner *o, struct slab *s)
{
	struct slab_lists *f = &o->lists[s->class];
	struct slabs *l = &f->full;
	struct units u;

	if (s == o->bins[s->class].slab)
		bin_detach(o, s->class); /* to the partial list */
	if (slab_is_ready(s)) { /* else it is large, and not held: see is_purgeable */
		if (!slab_take(s))
			return; /* another thread purges it: it stays on the list */
		l = &f->partial;
	}
	slabs_remove(l, s);
	u = slab_close(s);
	if (l == &f->partial)
		slab_let_go(s);
	units_give(o->heap, u);
	o->other_events = 0; /* see watch_event */
	watch_check(o);
}

void spares_reduce(struct owner *o, unsigned units)
{
	unsigned have = 0, i;

	/* From the youngest to the oldest: what fits stays.  One entry is left free. */
	for (i = o->spare_count; i-- > 0;) {
		struct slab *s = o->spares[i];

		have += s->units;
		if (have <= units && (i > 0 || o->spare_count < SPARES))
			continue;
		spares_remove_at(o, i);
		/* A current slab may have been allocated from since it became a spare. */
		if (slab_watch(s))
			slab_retire(o, s);
	}
}

void spares_add(struct owner *o, struct slab *s)
{
	if (o->no_spares) {
		slab_retire(o, s);
		return;
	}
	/* The new spare is kept, however large it is. */
	spares_reduce(o, s->units < SPARE_UNITS ? SPARE_UNITS - s->units : 0);
	o->spares[o->spare_count++] = s;
	s->spare = true;
	s->all_free = 0; /* disarms slab_watch: a spare may be used and become empty again */
}

void settle_freed(struct owner *o, struct slab *s, uint64_t group, uint64_t word)
{
	bool full = !slab_is_ready(s);

	slab_make_ready(s, (uint32_t)1 << group);
	store_release(&s->free[group], word);
	if (full || word == s->all_free)
		settle_slab(o, s, full);
	if (unlikely(load_relaxed(&o->watch) != WATCH_NONE))
		watch_event(o, s, (unsigned)group);
}

void settle_slab(struct owner *o, struct slab *s, bool was_full)
{
	struct slab_lists *f = &o->lists[s->class];

	if (was_full && s != o->bins[s->class].slab) {
		slabs_remove(&f->full, s);
		slabs_append(&f->partial, s);
	}
	if (s->all_free != 0 && slab_watch(s))
		spares_add(o, s);
}
