/* SPDX-License-Identifier: MIT */
/* The thread beside the victim, which does one piece of work at a time. */
#include "inner/steps/harness.h"
#include "kernel.h"
#include "syscall.h"

enum { YIELDS = 100 };

static void (*task)(void);
static _Atomic int its_turn;
static struct rt_thread *other;

/* Stays awake for a while, because the turn often comes back soon; then the CPU is for others. */
static void wait_while(int turn)
{
	for (int i = 0; its_turn == turn; i++)
		if (i < YIELDS)
			(void)arch_sched_yield();
		else
			(void)arch_futex(&its_turn, FUTEX_WAIT, turn, NULL, NULL, 0);
}

static void give_turn(int turn)
{
	its_turn = turn;
	(void)arch_futex(&its_turn, FUTEX_WAKE, 1, NULL, NULL, 0);
}

static void other_main(UNUSED void *argument)
{
	for (wait_while(0); task != NULL; wait_while(0)) {
		task();
		give_turn(0);
	}
}

/* May be called by the victim's handler: waits, but holds nothing of the library. */
void steps_other(void (*work)(void))
{
	task = work;
	give_turn(1);
	wait_while(1);
}

static void passing_main(void *work)
{
	(*(void (**)(void))work)();
}

void steps_passing_thread(void (*work)(void))
{
	rt_in_thread(passing_main, &work);
}

void other_begin(void)
{
	other = NOT_NULL(rt_thread_start(other_main, NULL));
}

void other_end(void)
{
	task = NULL;
	give_turn(1);
	rt_thread_join(other);
}
