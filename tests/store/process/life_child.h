/* SPDX-License-Identifier: MIT */
/* Children that tell their lives (life.h), and stay until they are killed. */
#ifndef TESTS_STORE_PROCESS_LIFE_CHILD_H
#define TESTS_STORE_PROCESS_LIFE_CHILD_H

#include "rt.h"

#include "store/process/life.h"

#include "syscall.h"

enum { SIGKILL = 9 };

static struct told {
	_Atomic uint64_t thread, process;
	_Atomic bool first_ended;
} *told;

static inline void told_make(void)
{
	CHECK((told = rt_map_shared(sizeof *told)) != NULL);
}

static inline void stay(UNUSED void *argument)
{
	for (;;)
		rt_sleep(1000000000);
}

/*
 * A child that tells its lives, does this, by its first thread or by another, and stays until it is
 * killed.
 */
static inline long child_that(void (*then)(void *), bool by_thread)
{
	long pid;

	told->process = 0;
	pid = rt_fork();
	if (pid == 0) {
		told->thread = life_of_thread();
		told->process = life_of_process();
		if (!by_thread)
			then(NULL);
		CHECK(rt_thread_start(then, NULL) != NULL);
		stay(NULL);
	}
	while (told->process == 0)
		rt_yield();
	return pid;
}

static inline long child(void)
{
	return child_that(stay, false);
}

static inline void kill_and_wait(long pid)
{
	CHECK_EQ(arch_kill(pid, SIGKILL), 0);
	CHECK_EQ(rt_wait(pid), 1000 + SIGKILL);
}

#endif
