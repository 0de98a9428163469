/* SPDX-License-Identifier: MIT */
/*
 * System calls of a crowd of threads: at most a fixed number for each thread, whatever the number of threads.  The calls
 * of equal threads that do not allocate are subtracted, because a thread's stack takes calls, too.
 */
/* promises: ash_alloc, ash_heap_alloc */
#ifndef TESTS_PROGRAM_CROWD_H
#define TESTS_PROGRAM_CROWD_H

#include "ashlar_heap.h"
#include "program/calls.h"
#include "rt.h"
#include "syscall.h"
#include "thread/seating.h"

static _Atomic size_t calls, turns;

WRAP(void, reap_some, (struct heap *h, struct owner *o))
{
	turns++;
	__real_reap_some(h, o);
}

#define COUNT(call) WRAP_CALL(call, calls++)
CALLS_OF_MEMORY(COUNT)
CALLS_THAT_ASK(COUNT)
COUNT(mprotect)
COUNT(pread64)
COUNT(prctl)

enum { MOST = 2000 };

static struct rt_thread *thread[MOST];
static _Atomic size_t ready;
static _Atomic uint32_t leave;
static ash_heap *heap; /* NULL: the default one */
static bool allocates;

static void stays(UNUSED void *argument)
{
	void *p = NULL;

	if (allocates)
		CHECK((p = heap != NULL ? ash_heap_alloc(heap, 100) : ash_alloc(100)) != NULL);
	ready++;
	while (!leave)
		(void)arch_futex(&leave, 0, 0, NULL, NULL, 0); /* wait while it is 0 */
	if (p == NULL)
		return;
	if (heap != NULL)
		ash_heap_release(heap, p);
	else
		ash_release(p);
}

/* The calls of so many threads that live at once, from the first start to the last end. */
static size_t calls_of(size_t threads, bool allocate)
{
	size_t before = calls, i;

	turns = 0;
	allocates = allocate;
	ready = 0;
	leave = 0;
	for (i = 0; i < threads; i++) {
		thread[i] = rt_thread_start(stays, NULL);
		if (thread[i] == NULL)
			rt_skip("so many threads at once may not be had here");
	}
	while (ready < threads)
		rt_yield();
	leave = 1;
	(void)arch_futex(&leave, 1, INT32_MAX, NULL, NULL, 0); /* wake */
	rt_threads_join(thread, threads);
	return calls - before;
}

/*
 * At each growth a turn asks about REAP_TURN threads, by three calls each; on a busy machine
 * more threads find at once that the heap is full, so these are counted apart.
 * An emulator wipes no marks at a fork, so numbers of processes are compared there.  This doubles the calls.
 */
static void each_asks_at_most(size_t most)
{
	size_t few = rt_under_qemu() ? 30 : 250, many = rt_under_qemu() ? 120 : MOST, idle, asked[2], turn[2];

	idle = calls_of(few, false);
	asked[0] = calls_of(few, true) - idle;
	turn[0] = turns;
	idle = calls_of(many, false);
	asked[1] = calls_of(many, true) - idle;
	turn[1] = turns;
	rt_print("     %zu threads: %zu calls and %zu turns, %zu threads: %zu and %zu\n", few, asked[0], turn[0],
		 many, asked[1], turn[1]);
	most *= rt_under_qemu() ? 2 : 1;
	CHECK(asked[0] > few && asked[0] <= most * few + turn[0] * REAP_TURN * 3);
	CHECK(asked[1] > many && asked[1] <= most * many + turn[1] * REAP_TURN * 3);
}

#endif
