/* SPDX-License-Identifier: MIT */
/*
 * The seat: what a thread has at hand of its record.  It is closed while a call of the
 * thread is at work in the record, so that a signal handler which interrupts the call
 * finds it closed and does without the record (slab/unowned.h).
 */
#ifndef CORE_SEAT_H
#define CORE_SEAT_H

#include "thread/owner.h"

struct seat {
	uint64_t open;	      /* ~0: self may be taken; 0: it is taken, or none    */
	struct owner *self;   /* never NULL                                        */
	struct owner *record; /* the same, NULL or SEAT_BUSY                       */
	/* Not 0: a frame of this thread holds a record that is not in its seat. */
	unsigned guest;
	void *latest; /* what malloc's free took last, see quick_predicted         */
	uint64_t drawn; /* the thread's number, see holder.c; 0: none yet          */
};

/* While a thread gets a first record, its handlers must not get another. */
#define SEAT_BUSY ((struct owner *)1)

#define SEAT_OPEN (~(uint64_t)0)

/* Before it is relocated, a shared object finds a seat of zeros (prereloc.h). */
#ifdef ASHLAR_SO
#define SEAT_MAY_BE_NULL true
#else
#define SEAT_MAY_BE_NULL false
#endif

#ifdef ASHLAR_SINGLE_THREAD
extern INTERNAL struct seat seat;
#else
extern INTERNAL _Thread_local struct seat seat;
#endif

/* Checks the record out.  The handler must see 0 before we touch a word of it. */
static inline void seat_close(void)
{
	seat.open = 0;
	signal_fence();
}

static inline void seat_give(void)
{
	signal_fence(); /* and must see all we wrote once it sees the seat open */
	seat.open = SEAT_OPEN;
}

#endif
