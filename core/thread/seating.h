/* SPDX-License-Identifier: MIT */
/*
 * Seating: a thread gets an owner record (a vacant one or a new one) with its first call,
 * and leaves it vacant with ash_thread_detach.
 */
#ifndef CORE_SEATING_H
#define CORE_SEATING_H

#include "internal.h"
#include "thread/seat.h"

/*
 * Gets a record of the heap for the calling thread and stores it in *self, which is a word
 * of its seat and NULL if the thread has none.  The record is held and checked out.
 * NULL: *self was not NULL, as this call interrupted another one; or out of memory.
 */
INTERNAL struct owner *seat_fill(struct owner **self, struct heap *h);

/*
 * The part of seat_take for a closed seat: gets the thread its first record of the default
 * heap and calls ash_on_thread.  NULL: as seat_fill; the caller uses the unowned slabs.
 */
INTERNAL struct owner *seat_slow(void);

/* Checks the thread's record out for any change, until seat_give.  NULL: as seat_slow. */
static inline struct owner *seat_take(void)
{
	if (!SEATED)
		return NULL;
	if (unlikely(seat.open == 0))
		return seat_slow();
	seat_close();
	owner_begin(seat.self);
	return seat.self;
}

static inline void seat_give(struct owner *o)
{
	owner_end(o);
	seat_open();
}

#endif
