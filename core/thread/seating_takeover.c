/* SPDX-License-Identifier: MIT */
#include "thread/seating.h"

#include "backend/shared.h"
#include "process.h"
#include "slab/look.h"
#include "thread/bin.h"
#include "thread/seat.h"
#include "thread/settle.h"

void visit_vacant(struct owner *o)
{
	/*
	 * A handler that interrupts this function may fork.  In the child, fork_settle must not take over the record
	 * that this frame holds.
	 */
	seat.guest++;
	signal_fence();
	/*
	 * A thread that sets a flag after the last check looks at the state afterwards, and so does the remaining
	 * work itself.  A guest that holds the record at this moment may visit one slab only: INBOX_MISSED tells the
	 * guest to do more, as below.
	 */
	while (load_seq_cst(&o->notified) != 0) {
		fetch_or_seq_cst(&o->notified, INBOX_MISSED);
		if (!owner_hold(o))
			break;
		shrink_before_vacate(o); /* so that no slab is current and empty */
		owner_vacate(o);
	}
	signal_fence();
	seat.guest--;
}

void visit_end(struct owner *o)
{
	owner_vacate(o);
	visit_vacant(o);
}

void visit_slab(struct owner *o, struct slab *s)
{
	seat.guest++; /* as above */
	signal_fence();
	if (!owner_hold(o)) {
		/*
		 * The holder vacates and then makes the load below; this thread sets the flag and
		 * then reads the state, in visit_vacant.  So one of the two sees the other.
		 */
		fetch_or_seq_cst(&o->notified, INBOX_MISSED);
	} else {
		shrink_slab(o, s);
		owner_vacate(o);
	}
	if (unlikely((load_seq_cst(&o->notified) & INBOX_MISSED) != 0))
		visit_vacant(o);
	signal_fence();
	seat.guest--;
}

void visit_all(struct heap *h)
{
	struct walk w = walk_from(h);
	struct owner *v;
	struct slab *s;

	while ((s = walk_next(&w)) != NULL) {
		v = slab_owner(s);
		if (v != NULL && load_relaxed(&v->state) == OWNER_VACANT)
			visit_slab(v, s);
	}
}

bool takeover_add(struct takeover *t, struct owner *v, uint64_t state)
{
	uint64_t me = holder_guest(v->heap);

	/*
	 * The acquire pairs with owner_vacate.  The plain stores of a holder that is gone are already visible: by the
	 * fence of the thread that found it gone (process_thread_is_gone), or, for threads that a fork left behind,
	 * by the fork.  If `me` is 0 there is no number, and the record would become vacant.
	 */
	if (me == 0 || !cas_acquire(&v->state, &state, me))
		return false;
	if (t->number == 0) {
		t->first = v;
		/* The topmost bit is set so that a number is never 0, whatever counter a file contains. */
		t->number = (fetch_add_relaxed(&v->heap->takeovers, 1) << 1) | (uint64_t)1 << 63;
	}
	if ((state & OWNER_GUEST) != 0) /* the guest may have been in any operation */
		store_relaxed(&v->building, load_relaxed(&v->building) | LISTS_CHANGING);
	store_relaxed(&v->batch, t->number);
	t->records++;
	return true;
}

/* Rebuilds a slab of a vanished holder from its bitmaps, whatever operation was interrupted. */
static void rebuild_slab(struct owner *v, struct slab *s)
{
	struct bin *b = &v->bins[s->class];
	uint64_t used = SLAB_IN_USE;
	unsigned g;

	if (heap_kind(v->heap)->own_records)
		(void)cas_acq_rel(&s->hold, &used, SLAB_IDLE);
	else /* in shared heaps only the owner holds slabs: settle_purge.c */
		slab_let_go(s);
	s->spare = 0;
	s->dirty = true; /* the slab is not known to read zero */
	s->ready = 0;
	(void)slab_collect(s, true);
	for (g = 0; g < s->groups; g++)
		if (load_relaxed(&s->free[g]) != 0)
			s->ready |= (uint64_t)1 << g;
	b->slabs++;
	if (slab_is_ready(s))
		slabs_append(&b->partial, s);
	if (slab_arm(s))
		slab_retire(v, s);
}

/* Returns the walk's next slab whose owner, *v, has this value in owner.batch, or NULL if there are no more slabs. */
static struct slab *next_slab(struct walk *w, uint64_t batch, struct owner **v)
{
	struct slab *s;

	while ((s = walk_next(w)) != NULL) {
		*v = slab_owner(s);
		/* While the record is in the batch, no other thread moves its slabs. */
		if (*v != NULL && load_relaxed(&(*v)->batch) == batch)
			return s;
	}
	return NULL;
}

/*
 * Completes operations that the holders of the batch left half done.  This waits until the whole batch is held: a
 * block that goes back may lie in a slab of another record of the batch, which would be visited if that record was
 * vacant, although the lists are not rebuilt yet.
 */
static void settle_records(const struct takeover *t)
{
	struct owner *v;
	size_t n = 0;

	for (v = t->first; v != NULL && n < t->records; v = owner_after(v->heap, v)) {
		if (load_relaxed(&v->batch) != t->number)
			continue;
		n++;
		shared_hooks_now()->settle(v);
		/* The lists of this record are words of another process, or of a file: they are not followed. */
		store_relaxed(&v->building, load_relaxed(&v->building) | LISTS_CHANGING);
	}
}

/* Marks the records of the batch whose lists must be rebuilt.  Returns whether there are such records. */
static bool sort_records(const struct takeover *t)
{
	struct owner *v;
	bool any = false;
	size_t n = 0;

	for (v = t->first; v != NULL && n < t->records; v = owner_after(v->heap, v)) {
		if (load_relaxed(&v->batch) != t->number)
			continue;
		n++;
		if ((v->building & LISTS_CHANGING) == 0)
			continue;
		owner_reset(v);
		store_relaxed(&v->batch, t->number | BATCH_REBUILT);
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
	if (unlikely(!heap_kind(v->heap)->own_records))
		settle_records(t);
	w = walk_from(v->heap);
	if (sort_records(t))
		while ((s = next_slab(&w, t->number | BATCH_REBUILT, &v)) != NULL)
			rebuild_slab(v, s);
	for (v = t->first; v != NULL && n < t->records; v = owner_after(v->heap, v)) {
		batch = load_relaxed(&v->batch);
		if ((batch & ~BATCH_REBUILT) != t->number)
			continue;
		n++;
		spares_reduce(v, 0); /* adopt_slabs relies on it */
		/*
		 * Ends the change if the lists were rebuilt.  This is not owner_end, because in shared heaps the counter
		 * never falls.  Release pairs with shared_hooks.is_quiet.
		 */
		if ((batch & BATCH_REBUILT) != 0)
			store_release(&v->building, load_relaxed(&v->building) + LISTS_CHANGING);
		store_relaxed(&v->batch, 0);
		visit_end(v);
	}
	return t->records;
}

void fork_settle(struct owner *o, uint64_t generation)
{
	struct heap *h = o->heap;
	struct takeover t = takeover_begin();
	struct owner *v;

	/* Only the thread that forked goes on, and only if no outer frame of the thread holds a record as a guest. */
	if (seat.guest != 0 || !holder_has_forked())
		return;
	/*
	 * The caller's own record first: if a handler forks during the takeover, this record
	 * must not look lost in the next child.
	 */
	store_relaxed(&o->identity, process_note());
	store_release(&o->state, holder_seated(h));
	for (v = owner_after(h, NULL); v != NULL; v = owner_after(h, v)) {
		uint64_t state = load_acquire(&v->state);

		if (v != o && state != OWNER_VACANT && holder_generation(state) != generation)
			(void)takeover_add(&t, v, state);
	}
	(void)takeover_end(&t);
	/* Pairs with fork_notice: a thread that sees this store sees the records of lost threads vacant. */
	store_release(&h->settled, generation);
}

void fork_notice(struct owner *o)
{
	uint64_t generation;

	if (!heap_kind(o->heap)->own_records)
		return; /* a child gets records of its own there */
	generation = generation_now();
	/* Pairs with the release in fork_settle. */
	if (unlikely(load_acquire(&o->heap->settled) != generation))
		fork_settle(o, generation);
}

/* A reap by a thread with the holder word `me` and the record o, which may be NULL. */
struct reap {
	struct heap *heap;
	struct owner *o;
	uint64_t me, generation;
	bool alone; /* all other threads have ended */
};

static bool holder_is_gone(const struct reap *r, const struct owner *v, uint64_t state)
{
	if (unlikely(!heap_kind(v->heap)->own_records))
		return state != r->me && shared_hooks_now()->is_dead(v->heap, state);
	/* A frame of the caller may be the guest that holds v.  Records from before a fork are for fork_settle. */
	return holder_number(state) != holder_number(r->me) &&
	       (r->alone || (holder_generation(state) == r->generation &&
			     holder_has_ended(state, load_relaxed(&v->identity))));
}

/* Reaps n records, from v up to the last record.  Returns the number of records whose holders had ended. */
static size_t reap_turn(const struct reap *r, struct owner *v, size_t n)
{
	struct takeover t = takeover_begin();

	if (v == NULL)
		v = owner_after(r->heap, NULL);
	for (; v != NULL && n > 0; v = owner_after(r->heap, v), n--) {
		/* Pairs with the compare-and-swaps of the state: identity is this holder's, or 0. */
		uint64_t state = load_acquire(&v->state);

		if (v != r->o && state != OWNER_VACANT && holder_is_gone(r, v, state) &&
		    takeover_add(&t, v, state) && heap_kind(r->heap)->own_records && (v->building & LISTS_CHANGING) == 0)
			shrink_owner(v); /* its lists are consistent: its empty slabs go back */
	}
	store_release(&r->heap->reap_next, v);
	return takeover_end(&t);
}

static struct reap reap_by(struct heap *h, struct owner *o, bool alone)
{
	return (struct reap){h, o, holder_seated(h), generation_now(), alone};
}

size_t reap_all(struct heap *h, struct owner *o)
{
	struct reap r = reap_by(h, o, false);

	return reap_turn(&r, NULL, SIZE_MAX);
}

void reap_one(struct owner *v, struct owner *o)
{
	struct reap r = reap_by(v->heap, o, false);

	(void)reap_turn(&r, v, 1);
}

void reap_alone(struct heap *h, struct owner *o)
{
	struct reap r = reap_by(h, o, true);

	if (heap_kind(h)->own_records && r.me != 0 && process_is_alone())
		(void)reap_turn(&r, NULL, SIZE_MAX);
}

void reap_some(struct heap *h, struct owner *o)
{
	struct reap r = reap_by(h, o, false);

	/* Acquire pairs with owner_publish: the record is complete. */
	(void)reap_turn(&r, load_acquire(&h->reap_next), REAP_TURN);
}
