/* SPDX-License-Identifier: MIT */
/*
 * Turns: of the program's threads one runs at a time, the one whose core is furthest behind in
 * the model's time.  So threads advance side by side as on a machine with that many cores,
 * whatever else this machine does.
 *
 *	core    clock: picoseconds in the model; its threads share it by slices
 *	thread  runs, waits for its turn, or is in a system call that may block
 */
#ifndef WORDS_TURNS_H
#define WORDS_TURNS_H

#include <stdbool.h>
#include <stdint.h>

enum { CORES_MOST = 256, THREADS_MOST = 4096 };

struct core {
	uint64_t clock;
	uint64_t drained;  /* when its stores so far are in the caches */
	uint64_t slice;	   /* when its current thread has run for long enough */
	unsigned threads, node;
	struct thread *current;
};

struct thread {
	struct core *core;
	unsigned number;
	bool ready, ended;
	struct turn *turn;
};

extern struct core cores[CORES_MOST];
extern __thread struct thread *me; /* NULL: not yet met */

void turns_begin(unsigned cores, unsigned nodes); /* the calling thread is the first */
uint64_t turns_now(void);	   /* the model's time, picoseconds */

/* Of the calling thread. */
void turns_enter(void);		   /* a thread's first instruction */
void turns_block(void);		   /* it may block now ... */
void turns_return(void);	   /* ... and did or did not */
void turns_end(void);
void turns_yield(void);
void turns_next(void);		   /* slow part of turns_check */
void turns_started(unsigned n);	   /* waits until so many threads were met besides the first */

extern uint64_t turns_limit;	   /* the running thread's core may go on until then */

static inline void turns_check(void)
{
	if (me->core->clock >= turns_limit)
		turns_next();
}

#endif
