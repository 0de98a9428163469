/* SPDX-License-Identifier: MIT */
#include "thread/holder.h"

#include "borrow.h"
#include "identity.h"
#include "process.h"
#include "thread/seat.h"

static uint64_t held(uint64_t generation, uint64_t number)
{
	return generation << OWNER_STAMP | number << OWNER_THREAD | OWNER_HELD;
}

#define NUMBER_MASK (((uint64_t)1 << (OWNER_STAMP - OWNER_THREAD)) - 1)

/* The calling thread's number, with the generation in which it was drawn, as a held state. */
static uint64_t drawn(void)
{
	static uint64_t count;
	uint64_t mine = load_relaxed(&seat.drawn), none = 0;

	if (mine != 0)
		return mine;
	mine = held(generation_now(), (fetch_add_relaxed(&count, 1) + 1) & NUMBER_MASK);
	/* One instruction: a handler may have drawn one for this thread meanwhile. */
	return cas_acquire(&seat.drawn, &none, mine) ? mine : none;
}

uint64_t holder_seated(const struct heap *h)
{
	if (unlikely(h->sharing != PAGES_PRIVATE))
		return heap_hooks->holder((struct heap *)(uintptr_t)h);
	return held(generation_now(), drawn() >> OWNER_THREAD & NUMBER_MASK);
}

uint64_t holder_guest(const struct heap *h)
{
	return holder_seated(h) | OWNER_GUEST;
}

bool holder_has_forked(void)
{
	/*
	 * Its number is from before the fork.  Or it had none then: in a child the
	 * first thread is the one that forked, but for a child of vfork, whose first
	 * thread sits in the seat of any thread of its parent.
	 */
	return holder_generation(drawn()) < generation_now() ||
	       (process_is_first_thread() && !memory_is_borrowed());
}

void holder_identify(struct owner *o)
{
	/*
	 * A record made while forks could not be noticed waits for its holder's next
	 * look: ids from before a fork would be taken for ones from after it.
	 */
	if (o->heap->sharing == PAGES_PRIVATE)
		store_relaxed(&o->identity, identity_here());
}

bool owner_hold_as(struct owner *o, uint64_t holder)
{
	uint64_t vacant = OWNER_VACANT;

	/* Acquire pairs with owner_vacate: the last holder's plain stores are seen. */
	return load_relaxed(&o->state) == OWNER_VACANT &&
	       cas_acquire(&o->state, &vacant, holder);
}

bool owner_hold(struct owner *o)
{
	return owner_hold_as(o, holder_guest(o->heap));
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
