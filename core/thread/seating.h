/* SPDX-License-Identifier: MIT */
/* How a thread gets a record and leaves it. */
#ifndef CORE_SEATING_H
#define CORE_SEATING_H

#include "thread/seat.h"

/* A record of the heap for a thread without one, checked out; NULL: interrupted call, or no memory. */
struct owner *seat_fill(struct owner **self, struct heap *h);

/* Checks the thread's owner out; NULL: interrupted call, or no memory. */
struct owner *seat_slow(void);

static inline struct owner *seat_take(void)
{
	if (unlikely(seat.open == 0))
		return seat_slow();
	seat_close();
	return seat.self;
}

#endif
