/* SPDX-License-Identifier: MIT */
#include "thread/seat.h"

#include "backend/shared.h"
#include "process.h"

#ifdef CPU_TLS_IS_COMPUTED
#undef seat
INTERNAL THREAD_LOCAL struct seat seat = {.self = owner_none, .small = {CLASS_TABLE}};
#define seat (*seat_here()) /* for the files that follow in the amalgamation */
#elif !IS_LIBC
INTERNAL THREAD_LOCAL struct seat seat = {.self = owner_none};
#endif

_Static_assert(OWNER_THREAD + ROLL_BITS == OWNER_STAMP, "a number");

#define NUMBER_BUSY ((uint64_t)1) /* a call of the thread is in roll_enter */

/*
 * Returns the calling thread's number and the generation in which the number was drawn, or 0 if the thread has no
 * number.
 */
static uint64_t thread_number(void)
{
	uint64_t mine = load_relaxed(&seat.number), number;

	if (likely(mine > NUMBER_BUSY))
		return mine;
	/*
	 * A compare-and-swap, because a handler may have drawn a number for this thread before.  No other thread
	 * reads the word, so this acquire pairs with nothing.
	 */
	if (mine == NUMBER_BUSY || !cas_acquire(&seat.number, &mine, NUMBER_BUSY))
		return mine > NUMBER_BUSY ? mine : 0;
	signal_fence();
	number = roll_enter(&seat);
	mine = number == 0 ? 0 : generation_now() << OWNER_STAMP | number << OWNER_THREAD | OWNER_HELD;
	signal_fence();
	store_relaxed(&seat.number, mine);
	return mine;
}

uint64_t holder_here(void)
{
	uint64_t mine = thread_number();

	if (unlikely(mine == 0))
		return 0;
	return generation_now() << OWNER_STAMP | (mine & (((uint64_t)1 << OWNER_STAMP) - 1));
}

uint64_t holder_seated(const struct heap *h)
{
	if (unlikely(!heap_kind(h)->own_records))
		return shared_hooks_now()->holder((struct heap *)(uintptr_t)h);
	return holder_here();
}

uint64_t holder_guest(const struct heap *h)
{
	uint64_t mine = holder_seated(h);

	return mine == 0 ? 0 : mine ^ (OWNER_HELD | OWNER_GUEST);
}

bool holder_has_forked(void)
{
	uint64_t mine = thread_number();

	return mine != 0 && holder_generation(mine) != generation_now();
}

bool holder_has_ended(uint64_t word, uint64_t note)
{
	uint64_t number = holder_number(word);

	return number != 0 && (roll_has_left(number) || process_thread_has_left(roll_seat(number), note));
}

void holder_note(struct owner *o)
{
	store_relaxed(&o->identity, process_ids());
}

bool owner_hold_as(struct owner *o, uint64_t holder)
{
	uint64_t vacant = OWNER_VACANT;

	/*
	 * Sequentially consistent, because visit_slab and visit_vacant set INBOX_MISSED before they call this
	 * function: if this load sees the record held, the holder sees the flag after the holder has vacated the
	 * record.  The acquire pairs with owner_vacate and makes the last holder's plain stores visible.
	 */
	return load_seq_cst(&o->state) == OWNER_VACANT && holder != OWNER_VACANT &&
	       cas_acquire(&o->state, &vacant, holder);
}

bool owner_hold(struct owner *o)
{
	return owner_hold_as(o, holder_guest(o->heap));
}

void owner_vacate(struct owner *o)
{
	o->no_spares = true; /* no owning thread, so caching empty slabs is pointless */
	store_relaxed(&o->identity, 0); /* before another thread can hold the record: see reap_turn */
	/*
	 * Sequentially consistent, like the entry of inbox_notify: the leaving holder reads the inbox after this
	 * exchange, the sender reads the state after its entry, and one of the two must see the other.  A plain store
	 * could still be in the store buffer.
	 */
	(void)exchange_seq_cst(&o->state, OWNER_VACANT);
	/* Pairs with owner_find: a thread that sees the count sees the record vacant. */
	(void)fetch_add_acq_rel(&o->heap->vacated, 1);
}
