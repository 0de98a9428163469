/* SPDX-License-Identifier: MIT */
#include "thread/takeover.h"

#include "slab/walk.h"
#include "thread/holder.h"
#include "thread/settle.h"
#include "thread/visit.h"

bool takeover_add(struct takeover *t, struct owner *v, uint64_t state)
{
	/*
	 * Acquire pairs with owner_vacate.  The plain stores of a holder that is gone were made
	 * visible before, by the fence of the thread that found it gone (process_thread_is_gone); those
	 * of threads that a fork left behind, by the fork.
	 */
	if (!cas_acquire(&v->state, &state, holder_guest(v->heap)))
		return false;
	if (t->number == 0) {
		t->first = v;
		t->number = (fetch_add_relaxed(&v->heap->takeovers, 1) + 1) << 1;
	}
	if ((state & OWNER_GUEST) != 0) /* the guest may have been anywhere */
		store_relaxed(&v->building, load_relaxed(&v->building) | 1);
	if (unlikely(v->heap->sharing != PAGES_PRIVATE))
		heap_hooks_now()->settle(v);
	store_relaxed(&v->batch, t->number);
	t->records++;
	return true;
}

/* Rebuilds a slab of a vanished holder from its bitmaps, whatever operation was interrupted. */
static void rebuild_slab(struct owner *v, struct slab *s)
{
	struct bin *f = &v->bins[s->class];
	uint64_t used = SLAB_IN_USE;

	(void)cas_acq_rel(&s->hold, &used, SLAB_IDLE);
	s->spare = 0;
	s->opened = s->groups; /* not known: no group counts as untouched, */
	s->dirty = UINT32_MAX; /* nor as known to be zero */
	(void)slab_collect(s, true);
	slab_refresh(s);
	slabs_append(slab_is_ready(s) ? &f->partial : &f->full, s);
	if (slab_arm(s))
		slab_retire(v, s);
}

/* The walk's next slab whose owner, *v, has this value in owner.batch; NULL: no more. */
static struct slab *next_slab(struct walk *w, uint64_t batch, struct owner **v)
{
	struct slab *s;

	while ((s = walk_next(w)) != NULL) {
		uint64_t word = load_acquire(&s->owner) & ~OWNER_PENDING;

		*v = (struct owner *)(uintptr_t)word;
		/* While the record is in the batch, no other thread moves its slabs. */
		if (word != 0 && (word & OWNER_UNOWNED) == 0 &&
		    load_relaxed(&(*v)->batch) == batch)
			return s;
	}
	return NULL;
}

/* Marks the records of the batch that must be rebuilt by an odd number.  True: there are some. */
static bool sort_records(const struct takeover *t)
{
	struct owner *v;
	bool any = false;
	size_t n = 0;

	for (v = t->first; v != NULL && n < t->records; v = v->next) {
		if (load_relaxed(&v->batch) != t->number)
			continue;
		n++;
		if ((v->building & 1) == 0)
			continue;
		owner_reset(v);
		store_relaxed(&v->batch, t->number | 1);
		any = true;
	}
	return any;
}

size_t takeover_end(struct takeover *t)
{
	struct owner *v = t->first;
	struct slab *s;
	struct walk w;
	uint64_t batch;
	size_t n = 0;

	if (v == NULL)
		return 0;
	w = walk_from(v->heap);
	if (sort_records(t))
		while ((s = next_slab(&w, t->number | 1, &v)) != NULL)
			rebuild_slab(v, s);
	for (v = t->first; v != NULL && n < t->records; v = v->next) {
		batch = load_relaxed(&v->batch);
		if (batch >> 1 != t->number >> 1)
			continue;
		n++;
		spares_reduce(v, 0); /* adopt_slabs relies on it */
		/* Even again.  Not owner_end: in shared heaps the counter never falls (shm/building.h). */
		store_release(&v->building, load_relaxed(&v->building) + (batch & 1));
		store_relaxed(&v->batch, 0);
		visit_end(v);
	}
	return t->records;
}
