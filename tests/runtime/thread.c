/* SPDX-License-Identifier: MIT */
/* Threads of libashlar_start.a (sys/start), and further calls of tests on them. */
#include "ashlar_start.h"
#include "kernel.h"
#include "rt.h"
#include "syscall.h"

#include <stdatomic.h>

enum { YIELDS = 50 };

struct rt_thread *rt_thread_start(void (*body)(void *), void *argument)
{
	struct ash_thread *thread = ash_thread_start(body, argument, 0);

	CHECK(thread != NULL); /* else a test that waits for it ends by its limit, and does not say why */
	return (struct rt_thread *)thread;
}

void rt_thread_join(struct rt_thread *thread)
{
	ash_thread_join((struct ash_thread *)thread);
}

void rt_threads_join(struct rt_thread *const *threads, size_t count)
{
	for (size_t i = 0; i < count; i++)
		rt_thread_join(threads[i]);
}

int rt_thread_tid(const struct rt_thread *thread)
{
	return ash_thread_id((const struct ash_thread *)thread);
}

/*
 * Yields first: running threads start closer to each other than threads that a futex
 * wakes one by one.  Not a private futex, as the barrier may be in memory shared by
 * processes.
 */
void rt_barrier_wait(struct rt_barrier *b)
{
	unsigned round = atomic_load(&b->round);

	if (atomic_fetch_add(&b->arrived, 1) + 1 == b->count) {
		atomic_store(&b->arrived, 0);
		atomic_fetch_add(&b->round, 1);
		arch_futex(&b->round, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
		return;
	}
	for (int i = 0; i < YIELDS && atomic_load(&b->round) == round; i++)
		arch_sched_yield();
	while (atomic_load(&b->round) == round)
		arch_futex(&b->round, FUTEX_WAIT, (long)round, NULL, NULL, 0);
}

void rt_yield(void)
{
	arch_sched_yield();
}

void rt_pin(unsigned cpu)
{
	uint64_t mask[16] = {0};

	mask[cpu / 64 % 16] = (uint64_t)1 << cpu % 64;
	arch_sched_setaffinity(0, sizeof(mask), mask);
}
