/* SPDX-License-Identifier: MIT */
/*
 * Seats of the calling thread in heaps that the program created (benches.h), and the checkout of the thread's owner
 * record.
 *
 * The pages of all threads of the process can be found (benches.h): when a heap leaves the process, all seats there
 * are emptied (seats_close).  So a seat never refers to a heap that was unmapped, even if another file of this heap
 * is attached later, at the old address and with that id.
 */
#ifndef CORE_SEATS_H
#define CORE_SEATS_H

#include "heaps/benches.h"
#include "thread/owner.h"
#include "thread/seat.h"

/* seats_take without a call, in a heap of this kind.  Returns NULL if the caller must call seats_take. */
static inline struct owner *seats_guess_kind(const struct heap *h, unsigned kind, struct seat_entry **t)
{
	struct seat_page *page = seats_open[kind];
	struct seat_entry *e;

	if (unlikely(page == NULL))
		return NULL;
	e = &page->entry[seat_home(h->id)];
	*t = e;
	return seat_checkout(e, h->id);
}

static inline struct owner *seats_guess(const struct heap *h, struct seat_entry **t)
{
	return seats_guess_kind(h, seats_kind(h), t);
}

/*
 * Checks the thread's record out of the seat, *t.  Returns NULL if there is no memory or no entry, or if the caller
 * interrupted a call of this thread: then the caller uses the unowned slabs.
 */
INTERNAL struct owner *seats_take(struct heap *h, struct seat_entry **t);

static inline void seats_give(struct seat_entry *t, struct owner *o)
{
	signal_fence(); /* see seat_open */
	store_relaxed(&t->owner, o);
}

/* Makes the seat unused, after its record was checked out and vacated. */
INTERNAL void seats_leave(struct seat_entry *t);

/* Returns the calling thread's record, also when it is checked out, or NULL if there is no record. */
INTERNAL struct owner *seats_self(struct heap *h);

/* seats_self without a call.  Returns NULL if the caller must call seats_self or seats_enter. */
static inline struct owner *seats_self_guess(const struct heap *h)
{
	const struct seat_page *page = seats_open[h->id & 1];
	const struct seat_entry *e;
	struct owner *o;

	if (unlikely(page == NULL))
		return NULL;
	e = &page->entry[seat_home(h->id)];
	/* A signal handler may give the entry to another heap between any two of these loads. */
	o = load_relaxed(&e->self);
	signal_fence();
	if (unlikely(load_relaxed(&e->id) != h->id) || unlikely(o == SEAT_BUSY))
		return NULL;
	signal_fence();
	return likely(load_relaxed(&e->self) == o) ? o : NULL;
}

/* A call on a heap, and the state of the calling thread's seat there. */
struct seats_call {
	struct seat_entry *entry;
	struct owner *owner; /* the record, checked out; NULL in the cases of seats_take */
	struct owner *self;  /* also if an interrupted call has it checked out           */
};

INTERNAL struct seats_call seats_enter(struct heap *h);

static inline void seats_exit(struct seats_call call)
{
	if (call.owner != NULL)
		seats_give(call.entry, call.owner);
}

/* ---- leaving: a holder leaves its record, a heap leaves the process ---- */

/* Detaches the current slabs and returns the empty slabs to the heap.  The caller holds the record. */
INTERNAL void record_rest(struct heap *h, struct owner *o);

/*
 * Vacates the record, then collects releases that came since into its slabs.  From the beginning of the call another
 * thread may take the record.
 */
INTERNAL void record_vacate(struct heap *h, struct owner *o);

/*
 * Empties the seats of all threads in a heap that leaves the process.
 *
 * No thread of the process is in a call on the heap, and no thread has a seat there afterwards.  The records of a
 * shared heap that sat there are vacated.
 */
INTERNAL void seats_close(struct heap *h);

#endif
