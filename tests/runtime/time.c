/* SPDX-License-Identifier: MIT */
#include "kernel.h"
#include "rt.h"
#include "syscall.h"

enum { BILLION = 1000000000 };

uint64_t rt_now(void)
{
	struct timespec t = {0};

	arch_clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.seconds * BILLION + (uint64_t)t.nanoseconds;
}

uint64_t rt_cpu_time(long pid)
{
	struct timespec t = {0};

	/* The kernel's id of a process's CPU clock: CPUCLOCK_SCHED, with the pid inverted. */
	(void)arch_clock_gettime((long)(~(unsigned long)pid << 3 | 2), &t);
	return (uint64_t)t.seconds * BILLION + (uint64_t)t.nanoseconds;
}

void rt_sleep(uint64_t nanoseconds)
{
	struct timespec t = {(int64_t)(nanoseconds / BILLION), (int64_t)(nanoseconds % BILLION)};

	/* If interrupted, t is the remaining time. */
	while (arch_nanosleep(&t, &t) == -EINTR)
		;
}
