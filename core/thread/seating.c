/* SPDX-License-Identifier: MIT */
#include "thread/seating.h"

#include "ashlar.h"
#include "chance.h"
#include "pages.h"
#include "prereloc.h"
#include "process.h"
#include "thread/seat.h"
#include "thread/settle.h"

static uint64_t first_owner_used;

/* Not inlined: 16 bytes less. */
static __attribute__((noinline)) struct owner *owner_memory(struct heap *h)
{
	if (unlikely(!heap_kind(h)->own_records))
		return heap_hooks_now()->owner_memory(h);
	/* One thread gets 0.  The word publishes nothing: no acquire or release pairs with it. */
	if (h == &heap_default && exchange_seq_cst(&first_owner_used, 1) == 0)
		return owner_first;
	return pages_reserve(OWNER_BYTES, PAGE_LEAST, h == &heap_default ? PAGES_RECORDS : PAGES_PRIVATE);
}

static struct owner *owner_make(struct heap *h, uint64_t me)
{
	struct owner *o = owner_memory(h);

	if (o == NULL)
		return NULL;
	if (IS_HARDENED || load_acquire(&h->owners) != NULL)
		fork_watch(h); /* before a fork could lose the holder of a record */
	/* New memory is 0, which is the initial state of all else: its pages stay untouched. */
	owner_publish(h, o, me);
	return o;
}

/* A record that the caller holds although it is in none of its seats, or a vacant one, or NULL. */
static struct owner *owner_find(struct heap *h, uint64_t me)
{
	/* Skip the walk if no record was vacated since all were found held. */
	uint64_t vacated = load_acquire(&h->vacated);
	struct owner *o;

	if (h == &heap_default && load_relaxed(&h->vacated_seen) == vacated)
		return NULL;
	for (o = owner_after(h, NULL); o != NULL; o = owner_after(h, o)) {
		/*
		 * The record is held by the caller and no call uses it: the seat that it was
		 * in serves another heap by now (seats.h).  Or it is left from a thread whose
		 * number has come round (roll.h); in a heap shared by processes, from the program
		 * that this process ran before exec.  Those may have stopped in the middle of an
		 * operation.
		 */
		if (unlikely(load_relaxed(&o->state) == me)) {
			struct takeover t = takeover_begin();

			if (heap_kind(h)->own_records && (load_relaxed(&o->building) & 1) == 0)
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
		return NULL; /* no number can be had, or an interrupted call is drawing it */
	o = owner_find(h, me);
	if (o == NULL)
		o = owner_make(h, me);
	if (o == NULL)
		return NULL;
	o->no_spares = false;
	if (IS_HARDENED)
		o->hardened->chances.drawn = CHANCES_NONE;
	if (heap_kind(h)->own_records)
		store_relaxed(&o->identity, process_note());
	return o;
}

struct owner *seat_fill(struct owner **self, struct heap *h)
{
	uint64_t none = 0;
	struct owner *o;

	/*
	 * Compare-and-swap: with a load and a store, a handler in between could get a record;
	 * ours would replace it in the seat, and it would never be vacated.  No other thread
	 * writes the word meanwhile, so its acquire pairs with nothing.
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

	if (IS_SO && prereloc_call(&seat))
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
		return; /* no record, or called by a handler that interrupted a call */
	seat_close();
	owner_begin(o);
	shrink_in_place(o);
	owner_end(o);
	/*
	 * Before the record is vacated: ash_alloc in a handler reads a free word of self
	 * twice and relies on its not changing.
	 */
	seat.self = owner_none;
	signal_fence();
	/* Collects entries made since shrink_in_place: their senders saw a holder. */
	visit_end(o);
	/* Last: until then, calls of a handler use the unowned slabs and get no new record. */
	signal_fence();
	seat.record = NULL;
}

void ash_thread_detach(void)
{
	if (IS_HARDENED)
		quarantine_empty();
	seat_leave();
	if (unlikely(heap_hooks_now() != NULL))
		heap_hooks_now()->thread_ends();
}
