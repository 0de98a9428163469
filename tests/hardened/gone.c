/* SPDX-License-Identifier: MIT */
/* promises: ash_trim gives back what is in the quarantines of threads that ended or vanished without detach. */
#include "ashlar_malloc.h"
#include "program/child.h"
#include "support/malloc_names.h"
#include "syscall.h"

enum { THREADS = 8 };

static struct rt_barrier together;

static void fill_quarantine(void)
{
	for (size_t size = 1; size < 32700; size += size / 8 + 1)
		for (unsigned i = 0; i < 80; i++)
			free(NOT_NULL(malloc(size)));
}

static void ends(UNUSED void *argument)
{
	fill_quarantine();
	rt_barrier_wait(&together);
	(void)arch_exit(0); /* without detach */
}

static void stays(UNUSED void *argument)
{
	fill_quarantine();
	rt_barrier_wait(&together);
	rt_barrier_wait(&together);
}

static void start_all(struct rt_thread **threads, void (*body)(void *))
{
	together = (struct rt_barrier){.count = THREADS + 1};
	for (unsigned i = 0; i < THREADS; i++)
		threads[i] = NOT_NULL(rt_thread_start(body, NULL));
	rt_barrier_wait(&together);
}

static void nothing_stays(void)
{
	struct ash_statistics st;

	(void)ash_trim(0);
	ash_stats(&st);
	rt_print("     %zu blocks, %zu slabs\n", (size_t)st.blocks, (size_t)st.slabs);
	CHECK_EQ(st.blocks, 0);
	CHECK_EQ(ash_check(), 0);
}

/* Also if the trim is the first call of its thread. */
static void trims(UNUSED void *argument)
{
	nothing_stays();
}

TEST(hardened_quarantines_of_ended_threads_go_back, 30)
{
	struct rt_thread *threads[THREADS];

	for (unsigned round = 0; round < 3; round++) {
		start_all(threads, ends);
		rt_threads_join(threads, THREADS);
		if (round == 1)
			rt_thread_join(NOT_NULL(rt_thread_start(trims, NULL)));
		nothing_stays();
	}
}

/* Those of threads that live stay as they are, in the parent; the child has no such thread. */
TEST(hardened_quarantines_of_vanished_threads_go_back, 30)
{
	struct rt_thread *threads[THREADS];
	struct ash_statistics st;

	free(NOT_NULL(malloc(1))); /* else the thread that forks would not be known */
	start_all(threads, stays);
	IN_CHILD nothing_stays();
	(void)ash_trim(0);
	ash_stats(&st);
	CHECK(st.blocks > THREADS * 64);
	rt_barrier_wait(&together);
	rt_threads_join(threads, THREADS);
	nothing_stays();
}
