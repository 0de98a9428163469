/* SPDX-License-Identifier: MIT */
/* Another thread, which does something when it starts and then is there, asleep, until it is told to go. */
#ifndef TESTS_SUPPORT_ANOTHER_H
#define TESTS_SUPPORT_ANOTHER_H

#include "rt.h"

static struct another {
	struct rt_barrier ready, leave;
	void (*work)(void);
	struct rt_thread *last;
} another;

static inline void another_main(UNUSED void *argument)
{
	another.work();
	rt_barrier_wait(&another.ready);
	rt_barrier_wait(&another.leave);
}

/* Returns when the work is done.  Several may stay at a time. */
static inline void another_stays(void (*work)(void))
{
	another.work = work;
	another.ready.count = 2;
	another.leave.count = another.leave.count == 0 ? 2 : another.leave.count + 1;
	another.last = NOT_NULL(rt_thread_start(another_main, NULL));
	rt_barrier_wait(&another.ready);
}

/* The only one that stays goes. */
static inline void another_goes(void)
{
	rt_barrier_wait(&another.leave);
	rt_thread_join(another.last);
	another.leave.count = 0;
}

#endif
