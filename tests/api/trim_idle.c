/* SPDX-License-Identifier: MIT */
/* Many threads that worked once and sleep, with nothing live: what their records cache. */
/* promises: ash_trim */
#include "support/resident.h"
#include "support/blocks.h"

enum { THREADS = 100, LIVE = 300 };
static struct rt_barrier both = {.count = THREADS + 1};

static void worked_once(void *argument)
{
	static unsigned char *all[THREADS][LIVE];
	unsigned char **live = all[(uintptr_t)argument];
	struct rt_random random;

	rt_seed(&random, (uintptr_t)argument + 1);
	for (unsigned i = 0; i < 5000; i++) {
		size_t at = rt_below(&random, LIVE), size = (size_t)8 << rt_below(&random, 11);

		size += rt_below(&random, size);
		ash_release(live[at]);
		live[at] = filled(size);
	}
	release_each(live, LIVE);
	rt_barrier_wait(&both);
	rt_barrier_wait(&both);
}

TEST(trim_of_idle_threads, 30)
{
	struct rt_thread *t[THREADS];
	size_t base, idle, left;

	needs_small_pages();
	ash_release(ash_alloc(100));
	base = rt_anonymous();
	for (uintptr_t i = 0; i < THREADS; i++)
		CHECK((t[i] = rt_thread_start(worked_once, (void *)i)) != NULL);
	rt_barrier_wait(&both);
	idle = rt_anonymous();
	(void)ash_trim(0);
	left = rt_anonymous();
	if (figures()) {
		rt_print("     %zu KiB a thread, %zu after a trim\n", (idle - base) / THREADS / KIB, (left - base) / THREADS / KIB);
		CHECK(idle <= base + THREADS * 1000 * KIB);
		CHECK(left <= base + THREADS * 400 * KIB);
	}
	CHECK_EQ(ash_check(), 0);
	rt_barrier_wait(&both);
	rt_threads_join(t, THREADS);
	CHECK_EQ(ash_check(), 0);
}
