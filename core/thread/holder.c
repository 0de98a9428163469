/* SPDX-License-Identifier: MIT */
#include "thread/holder.h"

#include "borrow.h"
#include "identity.h"
#include "process.h"
#include "thread/seat.h"

static uint64_t held_state(uint64_t generation, uint64_t number)
{
	return generation << OWNER_STAMP | number << OWNER_THREAD | OWNER_HELD;
}

#define NUMBER_MASK (((uint64_t)1 << (OWNER_STAMP - OWNER_THREAD)) - 1)

/* The calling thread's number and the generation in which it was drawn, as a held state. */
static uint64_t thread_number(void)
{
	static uint64_t count;
	uint64_t mine = load_relaxed(&seat.number), none = 0;

	if (mine != 0)
		return mine;
	mine = held_state(generation_now(), (fetch_add_relaxed(&count, 1) + 1) & NUMBER_MASK);
	/*
	 * Compare-and-swap: a handler may have drawn a number for this thread meanwhile.  No other
	 * thread reads the word, so its acquire pairs with nothing.
	 */
	return cas_acquire(&seat.number, &none, mine) ? mine : none;
}

uint64_t holder_seated(const struct heap *h)
{
	if (unlikely(h->sharing != PAGES_PRIVATE))
		return heap_hooks_now()->holder((struct heap *)(uintptr_t)h);
	return held_state(generation_now(), thread_number() >> OWNER_THREAD & NUMBER_MASK);
}

uint64_t holder_guest(const struct heap *h)
{
	return holder_seated(h) ^ (OWNER_HELD | OWNER_GUEST);
}

bool holder_has_forked(void)
{
	/*
	 * The thread that forked has a number from before the fork, if it had one at all.
	 * A thread without one forked if it is the first of its process, except in a child
	 * of vfork, whose first thread has the seat of whichever parent thread called vfork.
	 */
	return holder_generation(thread_number()) < generation_now() ||
	       (process_is_first_thread() && !memory_is_borrowed());
}

void holder_identify(struct owner *o)
{
	/*
	 * identity_here returns 0 while forks are not noticed yet: ids from before a fork
	 * would be mistaken for ids from after it.  fork_notice calls this again later.
	 */
	if (o->heap->sharing == PAGES_PRIVATE)
		store_relaxed(&o->identity, identity_here());
}

bool owner_hold_as(struct owner *o, uint64_t holder)
{
	uint64_t vacant = OWNER_VACANT;

	/*
	 * Sequentially consistent: visit_slab and visit_vacant set INBOX_MISSED before.  If this load
	 * sees the record held, its holder sees the flag when it has vacated the record.
	 * Acquire pairs with owner_vacate: makes the last holder's plain stores visible.
	 */
	return load_seq_cst(&o->state) == OWNER_VACANT &&
	       cas_acquire(&o->state, &vacant, holder);
}

bool owner_hold(struct owner *o)
{
	return owner_hold_as(o, holder_guest(o->heap));
}

void owner_vacate(struct owner *o)
{
	o->no_spares = true; /* no owning thread, so caching empty slabs is pointless */
	store_relaxed(&o->identity, 0); /* before another thread can hold it: see reap_all */
	/*
	 * Sequentially consistent, as is the entry of inbox_notify: the leaving holder
	 * reads the inbox after this exchange, the sender reads the state after its entry,
	 * and one of the two must see the other.  A plain store could still be in the
	 * store buffer.
	 */
	(void)exchange_seq_cst(&o->state, OWNER_VACANT);
	/* Pairs with owner_find: a thread that sees the count sees the record vacant. */
	(void)fetch_add_acq_rel(&o->heap->vacated, 1);
}
