/* SPDX-License-Identifier: MIT */
#include "thread/owner.h"

#include "ashlar.h"
#include "prereloc.h"
#include "thread/fork.h"
#include "memory.h"
#include "pages.h"
#include "front/quick.h"
#include "thread/takeover.h"

INTERNAL struct owner owner_static[2];
static uint64_t first_owner_used;

INTERNAL THREAD_LOCAL struct seat seat = {.self = owner_none};

static bool hold(struct owner *o, uint64_t holder)
{
	uint64_t vacant = OWNER_VACANT;

	/* Acquire pairs with owner_vacate: the last holder's plain stores are seen. */
	return load_relaxed(&o->state) == OWNER_VACANT &&
	       cas_acquire(&o->state, &vacant, holder);
}

bool owner_hold(struct owner *o)
{
	return hold(o, holder_guest(o->heap));
}

void owner_vacate(struct owner *o)
{
	o->no_spares = true; /* no thread to come back over the border of a slab */
	store_relaxed(&o->identity, 0); /* before it can be another thread's: see owner_reap */
	/*
	 * Ordered, and so is the letter of owner_notify: the leaver looks for inbox
	 * after this, the sender at the state after its letter, and one of the two
	 * must see the other.  A plain store could still wait in its buffer.
	 */
	(void)exchange_seq_cst(&o->state, OWNER_VACANT);
	/* Pairs with owner_find: who sees the count sees the record vacant. */
	(void)fetch_add_acq_rel(&o->heap->vacated, 1);
}

void owner_reset(struct owner *o)
{
	unsigned i;

	/* At once, each of them: watch_tell may look. */
	for (i = 0; i < CLASSES; i++)
		store_relaxed(&o->bins[i].slab, (struct slab *)NULL);
	/* Bins, lists, spares, what is cached. */
	memset(o->bins, 0, offsetof(struct owner, building) - offsetof(struct owner, bins));
	o->spare_count = 0;
	for (i = 0; i < INBOX_WORDS; i++)
		store_relaxed(&o->inbox[i], 0);
}

static struct owner *owner_memory(struct heap *h)
{
	if (unlikely(h->sharing != PAGES_PRIVATE))
		return heap_hooks->owner_memory(h);
	if (h == &heap_default && exchange_seq_cst(&first_owner_used, 1) == 0)
		return owner_first;
	return pages_reserve(OWNER_BYTES, PAGE_SIZE, PAGES_PRIVATE);
}

static struct owner *owner_make(struct heap *h)
{
	struct owner *o = owner_memory(h);

	if (o == NULL)
		return NULL;
	if (load_acquire(&h->owners) != NULL)
		fork_watch(h); /* before there is somebody who could vanish */
	/* The rest is zero, and zero is right: its pages stay untouched. */
	owner_enter(h, o, holder_seated(h));
	return o;
}

void owner_enter(struct heap *h, struct owner *o, uint64_t state)
{
	uint64_t top;

	o->heap = h;
	o->state = state;
	top = (uint64_t)(uintptr_t)load_relaxed(&h->owners);
	do
		o->next = (struct owner *)(uintptr_t)top;
	/* Pairs with the loads of heap.owners: a record is complete when seen. */
	while (!cas_acq_rel((uint64_t *)(void *)&h->owners, &top, (uint64_t)(uintptr_t)o));
}

/* The caller's own record that is in no seat of it, or a vacant one; NULL: there is none. */
static struct owner *owner_find(struct heap *h, uint64_t me)
{
	/* No record was vacated since all were found held: a walk less for each thread that starts. */
	uint64_t vacated = load_acquire(&h->vacated);
	struct owner *o;

	if (h == &heap_default && load_relaxed(&h->searched) == vacated)
		return NULL;
	for (o = load_acquire(&h->owners); o != NULL; o = o->next) {
		/*
		 * Ours, and in no call: its seat is another heap's by now (seats.h).  In a
		 * heap shared by processes it may be left from a program that this process
		 * was before it called exec, which knows in the middle of what.
		 */
		if (unlikely(load_relaxed(&o->state) == me)) {
			struct takeover t = takeover_begin(h);

			if (h->sharing == PAGES_PRIVATE)
				return o;
			if (takeover_add(&t, o, me))
				(void)takeover_end(&t);
		}
		if (hold(o, me))
			return o;
	}
	store_relaxed(&h->searched, vacated);
	return NULL;
}

static struct owner *owner_acquire(struct heap *h)
{
	struct owner *o = owner_find(h, holder_seated(h));

	if (o == NULL)
		o = owner_make(h);
	if (o == NULL)
		return NULL;
	o->no_spares = false;
	holder_identify(o);
	return o;
}

struct owner *seat_fill(struct owner **self, struct heap *h)
{
	uint64_t none = 0;
	struct owner *o;

	/*
	 * One instruction: a handler between a look and a store would get itself
	 * a record, and ours would take its place in the seat; nobody would ever
	 * leave the first one.
	 */
	if (!cas_acquire((uint64_t *)(void *)self, &none, (uint64_t)(uintptr_t)SEAT_BUSY))
		return NULL; /* we interrupted a call of this thread */
	o = owner_acquire(h);
	signal_fence();
	*self = o;
	return o; /* checked out */
}

struct owner *seat_slow(void)
{
	struct owner *o;

	if (prereloc_call(&seat))
		return NULL; /* the unowned slabs needs no seat */
	o = seat_fill(&seat.record, &heap_default);
	if (o == NULL)
		return NULL;
	seat.self = o;
	seat_give(); /* the program's function may allocate */
	ash_on_thread();
	return seat_take(); /* checked out again */
}

/* A partial slab of v becomes one of o's; both are held. */
static void owner_move(struct owner *v, struct owner *o, struct slab *s)
{
	uint64_t old;

	slabs_remove(&v->lists[s->class].partial, s);
	slabs_append(&o->lists[s->class].partial, s);
	/*
	 * Releasing threads that saw the pending mark told nobody.  If it was
	 * set, we take the mark off with the owner, so we must look ourselves.
	 */
	old = exchange_seq_cst(&s->owner, (uint64_t)(uintptr_t)o);
	if ((old & OWNER_PENDING) != 0)
		owner_collect_slab(o, s);
}

bool owner_adopt(struct owner *o, unsigned class, bool all)
{
	struct owner *v;
	bool any = false;

	for (v = load_acquire(&o->heap->owners); v != NULL; v = v->next) {
		struct slab *s;

		if (v == o || !owner_hold(v))
			continue;
		if (all) {
			owner_collect_all(v);
			o->slabs_seen += v->slabs_seen;
			spares_keep(v, 0); /* those that a vanished thread left */
			if (QUICK)
				large_leave(v);
		} else {
			owner_collect(v);
		}
		bin_rest(v, class);
		while ((s = v->lists[class].partial.head) != NULL) {
			owner_move(v, o, s);
			any = true;
		}
		owner_vacate(v);
		owner_visit(v);
	}
	return any;
}

void owner_shrink_vacant(struct heap *h)
{
	struct owner *v;

	for (v = load_acquire(&h->owners); v != NULL; v = v->next) {
		if (!owner_hold(v))
			continue;
		owner_collect_all(v);
		owner_shrink(v);
		owner_vacate(v);
		owner_visit(v);
	}
}

void owner_rest(struct owner *o)
{
	owner_collect(o);
	owner_shrink(o);
}

static void seat_leave(void)
{
	struct owner *o = seat.self;

	if (seat.open == 0)
		return; /* no record, or called by a handler that interrupted a call */
	seat.open = 0;
	signal_fence();
	owner_rest(o);
	/* Before others may hold it: a handler's ash_alloc looks twice at a word of self. */
	seat.self = owner_none;
	signal_fence();
	owner_vacate(o);
	/* What was released since the last look found the record held: it is ours to do. */
	owner_visit(o);
	/* Last: until here a handler's calls take the unowned slabs, or they would seat us anew. */
	signal_fence();
	seat.record = NULL;
}

void ash_thread_detach(void)
{
	seat_leave();
	if (unlikely(heap_hooks != NULL))
		heap_hooks->thread_ends();
}

bool owner_holds(struct heap *h, const void *p)
{
	struct owner *o;

	for (o = load_acquire(&h->owners); o != NULL; o = o->next)
		if ((uintptr_t)p - (uintptr_t)o < sizeof *o)
			return true;
	return false;
}
