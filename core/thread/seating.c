/* SPDX-License-Identifier: MIT */
#include "thread/seating.h"

#include "ashlar.h"
#include "backend/shared.h"
#include "base/variant.h"
#include "pages.h"
#include "prereloc.h"
#include "process.h"
#include "thread/seat.h"
#include "thread/settle.h"

static uint64_t first_owner_used;

/* Not inlined, because that saves 16 bytes. */
static __attribute__((noinline)) struct owner *owner_memory(struct heap *h)
{
	if (unlikely(!heap_kind(h)->own_records))
		return shared_hooks_now()->owner_memory(h);
	/* Only one thread gets 0.  The word publishes nothing, so no acquire or release pairs with it. */
	if (h == &heap_default && exchange_seq_cst(&first_owner_used, 1) == 0)
		return owner_first;
	return pages_reserve(OWNER_BYTES, PAGE_LEAST, h == &heap_default ? PAGES_RECORDS : PAGES_PRIVATE);
}

static struct owner *owner_make(struct heap *h, uint64_t me)
{
	struct owner *o = owner_memory(h);

	if (o == NULL)
		return NULL;
	if (owner_draws() || load_acquire(&h->owners) != NULL)
		generation_watch(); /* before a fork could lose the holder of a record */
	/* New memory is 0, which is the initial state of all other members.  Their pages stay untouched. */
	owner_publish(h, o, me);
	return o;
}

/* Returns a record that the caller holds although no seat of the caller has it, or a vacant record, or NULL. */
static struct owner *owner_find(struct heap *h, uint64_t me)
{
	/* The walk is unnecessary if no record was vacated since all records were found held. */
	uint64_t vacated = load_acquire(&h->vacated);
	struct owner *o;

	if (h == &heap_default && load_relaxed(&h->vacated_seen) == vacated)
		return NULL;
	for (o = owner_after(h, NULL); o != NULL; o = owner_after(h, o)) {
		/*
		 * The caller holds the record, and no call uses the record.  Either the record's former seat now
		 * serves another heap (seats.h).  Or the holder was a thread whose number has come round (roll.h),
		 * or, in a heap shared by processes, the program that this process ran before exec; both may have
		 * stopped in the middle of an operation.
		 */
		if (unlikely(load_relaxed(&o->state) == me)) {
			struct takeover t = takeover_begin();

			if (heap_kind(h)->own_records && (load_relaxed(&o->building) & LISTS_CHANGING) == 0)
				return o;
			if (takeover_add(&t, o, me))
				(void)takeover_end(&t);
		}
		if (owner_hold_as(o, me))
			return o;
	}
	store_relaxed(&h->vacated_seen, vacated);
	return NULL;
}

static struct owner *owner_acquire(struct heap *h)
{
	uint64_t me = holder_seated(h);
	struct owner *o;

	if (unlikely(me == 0))
		return NULL; /* there is no number, or an interrupted call is drawing the number */
	o = owner_find(h, me);
	if (o == NULL)
		o = owner_make(h, me);
	if (o == NULL)
		return NULL;
	o->no_spares = false;
	owner_draws_anew(o);
	if (heap_kind(h)->own_records)
		store_relaxed(&o->identity, process_note());
	return o;
}

struct owner *seat_fill(struct owner **self, struct heap *h)
{
	uint64_t none = 0;
	struct owner *o;

	/*
	 * A compare-and-swap, because with a load and a store a handler in between could get a record; then this
	 * call's record would replace it in the seat, and the handler's record would never be vacated.  No other
	 * thread writes the word, so this acquire pairs with nothing.
	 */
	if (!cas_acquire((uint64_t *)(void *)self, &none, (uint64_t)(uintptr_t)SEAT_BUSY))
		return NULL; /* this call interrupted another call of the thread */
	o = owner_acquire(h);
	signal_fence();
	*self = o;
	return o; /* checked out */
}

struct owner *seat_slow(void)
{
	struct owner *o;

	if (prereloc_call(&seat))
		return NULL; /* the unowned slabs need no seat */
	o = seat_fill(&seat.record, &heap_default);
	if (o == NULL)
		return NULL;
	seat.self = o;
	seat_open(); /* the user's hook may allocate */
	ash_on_thread();
	return seat_take(); /* checked out again */
}

static void seat_leave(void)
{
	struct owner *o = seat.self;

	if (seat.open == 0)
		return; /* there is no record, or a handler interrupted a call and called this */
	seat_close();
	owner_begin(o);
	shrink_in_place(o);
	owner_end(o);
	/*
	 * Before the record is vacated, because ash_alloc in a handler reads a free word of self twice and relies on
	 * its not changing.
	 */
	seat.self = owner_none;
	signal_fence();
	/* Collects entries made since shrink_in_place: their senders saw the record held. */
	visit_end(o);
	/* Last, because until then a handler's calls use the unowned slabs and get no new record. */
	signal_fence();
	seat.record = NULL;
}

void ash_thread_detach(void)
{
	quarantine_empty();
	seat_leave();
	if (unlikely(heap_hooks_now() != NULL))
		heap_hooks_now()->thread_ends();
}
