/* SPDX-License-Identifier: MIT */
#include "thread/refill.h"

#include "thread/adopt.h"
#include "thread/bin.h"
#include "thread/collect.h"
#include "thread/fork.h"
#include "thread/gather.h"
#include "thread/large.h"
#include "thread/reap.h"
#include "thread/shrink.h"
#include "thread/spare.h"
#include "thread/watch.h"

/*
 * Makes the first slab of the partial list current, a spare only if there is no other; or else
 * a new one.
 */
static __attribute__((noinline)) bool bin_find_slab(struct owner *o, unsigned class, bool grow)
{
	struct bin *b = &o->bins[class];
	bool few = b->full.head == NULL || b->full.head->next == NULL; /* all other slabs of the class */
	struct slab *s = b->partial.head;

	if (s != NULL && s->spare && s->next != NULL)
		s = s->next;
	for (; s != NULL; s = s->next)
		if (likely(slab_take(s))) {
			slabs_remove(&b->partial, s);
			goto taken;
		}
	for (;;) {
		while ((s = slab_make(o->heap, class, few, (uint64_t)(uintptr_t)o, grow)) == NULL) {
			if (few || !grow)
				return false;
			few = true; /* out of memory: a one-unit slab may still fit */
		}
		if (likely(slab_take(s))) /* and not on a list, which lies on a page of its own */
			break;
		/*
		 * slab_take fails if a thread that purges slabs (slab_purge.h) already held the
		 * record when this slab was made in it.
		 */
		slabs_append(&b->partial, s);
	}
taken:
	bin_take(o, class, s);
	return true;
}

bool refill_bin(struct owner *o, unsigned class)
{
	struct bin *b = &o->bins[class];

	if (b->slab != NULL && bin_next_group(o, b))
		return true;
	bin_detach(o, class); /* it is full */
	fork_notice(o);
	if (b->partial.head == NULL || b->partial.head->spare)
		collect_inbox(o);
	if (bin_find_slab(o, class, false))
		return true;
	adopt_slabs(o, class, ADOPT_TURN);
	reap_some(o->heap, o);
	/*
	 * Inbox entries may have been lost.  So at each growth a chunk's worth of slabs is
	 * visited, in turn, and before the result is NULL all of this record and of vacant ones.
	 * Not if a slab was adopted, nor while what is due is purged, as each slab that is found
	 * empty purges a part of it (retain.h).
	 */
	if (((uintptr_t)b->partial.head | load_relaxed(&o->heap->hand)) == 0)
		shrink_lists(o, SHRINK_TURN);
	if (bin_find_slab(o, class, true))
		return true;
	/* Out of memory: also empty slabs of all classes, and empty unowned slabs. */
	heap_gather(o->heap, o);
	adopt_slabs(o, class, ADOPT_ALL);
	return bin_find_slab(o, class, true);
}

void *refill_slot(struct owner *o, unsigned class, bool *clean)
{
	struct bin *b = &o->bins[class];
	void *p;

	if (class > CLASS_ONE && (p = large_take(o, class, clean)) != NULL)
		return p;
	while ((p = bin_slot(o, b, clean)) == NULL)
		if (!refill_bin(o, class))
			return NULL;
	if (class > CLASS_ONE)
		bin_detach(o, class); /* a slab of one slot is not current, see large.h */
	watch_count(o, 1);
	return p;
}
