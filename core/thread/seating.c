/* SPDX-License-Identifier: MIT */
#include "thread/seating.h"

#include "ashlar.h"
#include "pages.h"
#include "prereloc.h"
#include "thread/collect.h"
#include "thread/fork.h"
#include "thread/holder.h"
#include "thread/shrink.h"
#include "thread/takeover.h"

static uint64_t first_owner_used;

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
		if (owner_hold_as(o, me))
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

static void seat_leave(void)
{
	struct owner *o = seat.self;

	if (seat.open == 0)
		return; /* no record, or called by a handler that interrupted a call */
	seat_close();
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
