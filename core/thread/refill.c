/* SPDX-License-Identifier: MIT */
#include "thread/refill.h"

#include "backend/region.h"
#include "backend/retain.h"
#include "base/variant.h"
#include "slab/unowned.h"
#include "thread/bin.h"
#include "thread/seat.h"
#include "thread/seating.h"
#include "thread/settle.h"

void heap_gather(struct heap *h, struct owner *o)
{
	(void)reap_all(h, o);
	if (o != NULL) {
		shrink_all(o);
		visit_all(h);
	}
	(void)unowned_shrink(h);
	if (heap_hooks_now() != NULL && heap_kind(h)->own_pages)
		(void)heap_hooks_now()->trim();
}

void gather_own(void)
{
	struct owner *o = seat_take();

	heap_gather(&heap_default, o);
	if (o != NULL)
		seat_give(o);
}

/* Moves a slab from the list of another record to the list of that class of o.  The caller holds both records. */
static void adopt_slab(struct bin *from, struct owner *o, struct slab *s)
{
	slabs_remove(&from->partial, s);
	from->slabs--;
	slabs_append(&o->bins[s->class].partial, s);
	o->bins[s->class].slabs++;
	/*
	 * The exchange clears the pending bit with the owner.  Threads that released into
	 * the slab while the bit was set made no inbox entry, so the remote bits must be
	 * collected here.
	 */
	(void)exchange_seq_cst(&s->owner, (uint64_t)(uintptr_t)o);
	collect_slab(o, s);
}

void adopt_slabs(struct owner *o, unsigned class, unsigned n)
{
	/* Acquire, here and below, pairs with owner_publish: the record is complete. */
	struct owner *v = n == ADOPT_ALL ? NULL : load_acquire(&o->heap->adopt_next);

	if (v == NULL)
		v = owner_after(o->heap, NULL);
	for (; v != NULL && n > 0; v = owner_after(o->heap, v)) {
		struct bin *b = &v->bins[class];

		n--;
		if (!owner_hold(v)) /* for example o itself */
			continue;
		collect_inbox(v);
		if (b->partial.head == NULL && v->lost != 0)
			collect_lost(v, class);
		bin_detach(v, class);
		for (; n > 0 && b->partial.head != NULL; n--)
			adopt_slab(b, o, b->partial.head);
		visit_end(v);
	}
	store_release(&o->heap->adopt_next, v);
}

/*
 * Makes the first slab of the partial list current, or a new slab if there is none.  Takes a spare only if there is
 * no other slab.
 */
static __attribute__((noinline)) bool bin_find_slab(struct owner *o, unsigned class, bool grow)
{
	struct bin *b = &o->bins[class];
	bool few = b->slabs < 2;
	struct slab *s = b->partial.head;

	if (s != NULL && s->spare && s->next != NULL)
		s = s->next;
	for (; s != NULL; s = s->next)
		if (likely(slab_take(s))) {
			slabs_remove(&b->partial, s);
			hand_closed(o, s->units);
			goto taken;
		}
	for (;;) {
		while ((s = slab_make(o->heap, class, few, (uint64_t)(uintptr_t)o, grow)) == NULL) {
			if (few || !grow || (class > CLASS_ONE && region_exact()))
				return false;
			few = true; /* out of memory: a one-unit slab may still fit */
		}
		b->slabs++;
		bin_grew(o, class);
		if (likely(slab_take(s))) /* and off the list: its links lie on another page */
			break;
		/*
		 * slab_take fails if a thread that purges slabs (settle.h) already held the
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
	struct slab *s = bin_slab(o, b);

	if (slab_is_ready(s))
		return true;
	if (b->slab != 0 && (load_relaxed(&s->owner) & OWNER_PENDING) != 0 && slab_collect(s, false))
		return true;
	bin_detach(o, class); /* the slab is full */
	fork_notice(o);
	if (b->partial.head == NULL || b->partial.head->spare) {
		collect_inbox(o);
		if (b->partial.head == NULL && unlikely(o->lost != 0))
			collect_lost(o, class);
	}
	/* An empty heap grows at once, because no record and no chunk can have a slab. */
	if (bin_find_slab(o, class, load_relaxed(&o->heap->reserved) == 0))
		return true;
	adopt_slabs(o, class, ADOPT_TURN);
	reap_some(o->heap, o);
	/*
	 * Inbox entries may have been lost.  Therefore some chunks are visited at each growth, in turn, and all slabs
	 * of this record and of vacant records before the result is NULL.  There is no visit if a slab was adopted,
	 * nor while due memory is purged, because each slab that is found empty purges a part of that memory
	 * (retain.h).
	 */
	if (b->partial.head == NULL && load_relaxed(&o->heap->due_at) == 0)
		shrink_turn(o, class);
	if (bin_find_slab(o, class, true))
		return true;
	/* Memory is short: give back the empty slabs of all classes and the empty unowned slabs. */
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
	p = o->watched && class <= CLASS_ONE ? bin_pass(o, class, clean) : NULL;
	while (p == NULL && (p = bin_slot(o, b, clean)) == NULL)
		if (!refill_bin(o, class))
			return NULL;
	if (unlikely(o->watched))
		bin_watched(o, class);
	else
		owner_count(o);
	if (class > CLASS_ONE)
		bin_detach(o, class); /* a large slab is not current */
	return p;
}

unsigned refill_larger(struct owner *o, unsigned class, size_t alignment)
{
	const struct bin *b;

	while (++class < CLASSES) {
		if (!class_has(class, alignment))
			continue;
		b = &o->bins[class];
		if (slab_is_ready(bin_slab(o, b)))
			break;
		bin_detach(o, class);
		if (b->partial.head == NULL)
			adopt_slabs(o, class, ADOPT_ALL);
		if (b->partial.head != NULL && bin_find_slab(o, class, false))
			break;
	}
	return class;
}

size_t heap_give_back(struct heap *h, struct owner *o, size_t keep)
{
	size_t bytes, left, room;

	if (!IS_MALLOC)
		reap_alone(h, o);
	heap_gather(h, o);
	bytes = heap_trim(h, keep);
	store_relaxed(&h->refused, 0); /* memory that could not be purged may be tried again */
	left = load_relaxed(&h->dirty) * UNIT_SIZE;
	room = keep > left ? keep - left : 0;
	if (o != NULL) {
		bytes += slabs_purge(o, &room);
		bytes += slabs_purge_others(h, o, &room);
	}
	if (keep == 0)
		(void)region_trim(h, false);
	return bytes;
}
