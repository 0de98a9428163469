/* SPDX-License-Identifier: MIT */
#include "shm/seats.h"

#include "shm/building.h"
#include "shm/census_join.h"
#include "shm/lives.h"
#include "shm/seat_entries.h"
#include "thread/reap.h"
#include "thread/seat.h"
#include "thread/seating.h"

/*
 * All records are in use, some perhaps by threads that have died.  The kernel is asked only
 * now and then, since in a heap of more threads than records each call comes here.
 */
static struct owner *fill_after_reaping(struct seat_entry *t, struct heap *h)
{
	enum { NOW_AND_THEN = 1024 };

	if (load_relaxed(&t->self) != NULL || h->sharing != PAGES_SHARED ||
	    fetch_add_relaxed(&store_of(h)->refused, 1) % NOW_AND_THEN != 0 ||
	    reap_all(h, NULL) == 0)
		return NULL;
	return seat_fill(&t->self, h);
}

/* A record for the seat.  Until there is one, the caller builds as a stranger (building.h). */
static struct owner *fill(struct seat_entry *t, struct heap *h)
{
	struct building b;
	struct owner *o;

	if (load_relaxed(&t->self) != NULL)
		return NULL;
	/* Without a valid life the death of the thread would never be noticed, or too soon. */
	if (h->sharing == PAGES_SHARED && lives_process(h) == 0)
		return NULL;
	b = building_begin(h, NULL);
	o = seat_fill(&t->self, h);
	if (o == NULL)
		o = fill_after_reaping(t, h);
	if (o != NULL && h->sharing == PAGES_SHARED)
		/* Relaxed: census_is_held of other threads reads it at any time. */
		store_relaxed(&o->census, census_join(store_of(h)));
	building_end(b);
	return o;
}

struct owner *seats_take(struct heap *h, struct seat_entry **t)
{
	struct seat_entry *e = seat_entry_for(h);
	struct owner *o;

	if (unlikely(e == NULL))
		return NULL;
	*t = e;
	o = seat_checkout(e, h->id);
	return likely(o != NULL) ? o : fill(*t, h);
}

void seats_leave(struct seat_entry *t)
{
	signal_fence(); /* see seat_leave */
	store_relaxed(&t->self, (struct owner *)NULL);
	signal_fence();
	store_relaxed(&t->id, 0);
}

struct owner *seats_self(struct heap *h)
{
	struct bench *b = thread_bench_look(seats_kind(h));
	struct seat_entry *e = b == NULL ? NULL : bench_find(b, h->id);
	struct owner *o = e == NULL ? NULL : load_relaxed(&e->self);

	return o == SEAT_BUSY ? NULL : o;
}

struct seats_call seats_enter(struct heap *h)
{
	struct seats_call call;

	call.owner = seats_guess(h, &call.entry);
	if (unlikely(call.owner == NULL))
		call.owner = seats_take(h, &call.entry);
	call.self = call.owner != NULL ? call.owner : seats_self(h);
	return call;
}
