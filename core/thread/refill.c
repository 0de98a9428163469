/* SPDX-License-Identifier: MIT */
#include "thread/refill.h"

#include "backend/retain.h"
#include "slab/unowned.h"
#include "thread/adopt.h"
#include "thread/bin.h"
#include "thread/collect.h"
#include "thread/fork.h"
#include "thread/large.h"
#include "thread/reap.h"
#include "thread/shrink.h"
#include "thread/spare.h"
#include "thread/watch.h"

/* The next slab on the list becomes current; a spare only if there is no other. */
static bool bin_next_slab(struct owner *o, unsigned class)
{
	struct slab_lists *f = &o->lists[class];
	struct slab *s = f->partial.head;

	if (s != NULL && s->spare && s->next != NULL)
		s = s->next;
	while (s != NULL && unlikely(!slab_take(s)))
		s = s->next;
	if (s == NULL)
		return false;
	slabs_remove(&f->partial, s);
	bin_take(o, class, s);
	return true;
}

/* One from the list, or a new one. */
static __attribute__((noinline)) bool bin_find_slab(struct owner *o, unsigned class, bool grow)
{
	const struct slabs *l = &o->lists[class].full; /* by now all that there are */
	struct slab *s;

	if (bin_next_slab(o, class))
		return true;
	for (;;) {
		s = slab_make(o->heap, class, l->head == l->tail, (uint64_t)(uintptr_t)o, grow);
		if (s == NULL && grow) /* where memory ends, a small one may still have room */
			s = slab_make(o->heap, class, true, (uint64_t)(uintptr_t)o, grow);
		if (s == NULL)
			return false;
		if (likely(slab_take(s)))
			break;
		/* Somebody looks for what he may purge, since before this was a slab. */
		slabs_append(&o->lists[class].partial, s);
	}
	bin_take(o, class, s);
	return true;
}

bool bin_refill(struct owner *o, unsigned class)
{
	struct bin *b = &o->bins[class];
	struct slab_lists *f = &o->lists[class];

	if (b->slab != NULL) {
		if (bin_next_group(o, b))
			return true;
		bin_full(o, class);
	}
	fork_notice(o);
	if (f->partial.head == NULL || f->partial.head->spare)
		owner_collect(o);
	if (bin_find_slab(o, class, false))
		return true;
	(void)owner_adopt(o, class, false);
	owner_reap_some(o->heap, o);
	if (bin_find_slab(o, class, false))
		return true;
	/*
	 * News of a release may have been lost.  So each time that the slabs may
	 * have doubled in number, and before the answer is NULL, all of them are
	 * looked at, and those of vacant records: at most a chunk's worth for each
	 * chunk that the heap grew by.
	 */
	if (o->growths++ * (uint32_t)CHUNK_UNITS <= o->slabs_seen && bin_find_slab(o, class, true))
		return true;
	owner_collect_all(o);
	(void)owner_adopt(o, class, true);
	owner_shrink(o);
	if (bin_find_slab(o, class, true))
		return true;
	/* Where memory ends: what vanished threads left in other classes, and what nobody owns. */
	if (o->heap->sharing == PAGES_PRIVATE)
		owner_shrink_vacant(o->heap);
	(void)unowned_shrink(o->heap);
	return bin_find_slab(o, class, true);
}

void *owner_slot(struct owner *o, unsigned class, bool *clean)
{
	struct bin *b = &o->bins[class];
	bool refilled = false;
	void *p;

	if (QUICK && class > CLASS_ONE && (p = large_take(o, class, clean)) != NULL)
		return p;
	for (; unlikely((p = bin_slot(o, b, clean)) == NULL); refilled = true)
		if (!bin_refill(o, class))
			return NULL;
	if (QUICK && class > CLASS_ONE && !bin_next_group(o, b))
		bin_full(o, class); /* no bin keeps a slab of one slot, see large.h */
	if (unlikely(refilled))
		watch_heed(o, retain_tick(o->heap, 1));
	return p;
}
