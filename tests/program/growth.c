/* SPDX-License-Identifier: MIT */
/*
 * C3: a heap that grows beside many threads asks the system about at most REAP_TURN of them
 * a growth.  Even so, threads that come and go and never
 * detach leave no more behind than a growth finds.
 */
/* promises: ash_alloc */
#include "ashlar.h"
#include "backend/heap.h"
#include "rt.h"
#include "support/blocks.h"
#include "support/wrap.h"
#include "syscall.h"
#include "thread/seating.h"

enum { CHUNKS = 64, SIZE = 60000 };

static _Atomic size_t asked, turns, ready;
static int wait_here[2];

WRAP(long, arch_madvise, (void *address, size_t length, long advice))
{
	const long willneed = 3; /* whether a thread's memory is mapped */

	asked += advice == willneed;
	return __real_arch_madvise(address, length, advice);
}

WRAP(void, reap_some, (struct heap *h, struct owner *o))
{
	turns++;
	__real_reap_some(h, o);
}

static void live(UNUSED void *argument)
{
	char byte;

	CHECK(ash_alloc(100) != NULL);
	ready++;
	(void)arch_read(wait_here[0], &byte, 1);
}

static uint64_t chunks(void)
{
	return load_relaxed(&heap_default.slab_chunks);
}

/* Calls that the growth by a chunk made. */
static size_t asked_by_growth(void)
{
	size_t before = asked;
	uint64_t was = chunks();

	while (chunks() == was)
		CHECK(ash_alloc(SIZE) != NULL);
	CHECK_EQ(chunks(), was + 1);
	return asked - before;
}

TEST(growth_asks_about_few_threads, 60)
{
	size_t threads = rt_under_qemu() ? 80 : 300, i, growths = 0, most = 0;
	static struct rt_thread *thread[300];

	CHECK_EQ(arch_pipe2(wait_here, 0), 0);
	CHECK(ash_alloc(100) != NULL);
	for (i = 0; i < threads; i++) {
		thread[i] = rt_thread_start(live, NULL);
		if (thread[i] == NULL)
			rt_skip("so many threads at once may not be had here");
	}
	while (ready < threads)
		rt_yield();
	/* On the way a few growths asked: more on a busy machine, where several threads grow the heap at once. */
	CHECK(asked <= turns * REAP_TURN);
	while (chunks() < CHUNKS) {
		size_t n = asked_by_growth();

		growths++;
		most = n > most ? n : most;
	}
	rt_print("     %zu growths beside %zu threads: %zu were asked about at most\n", growths, threads, most);
	CHECK(growths > CHUNKS / 2 && most == REAP_TURN);
	(void)arch_close(wait_here[1]);
	rt_threads_join(thread, threads);
	CHECK_EQ(ash_check(), 0);
}

/* The runtime's call at the end of a thread: these threads leave without it. */
WRAP(void, ash_thread_detach, (void))
{
}

static void *left[500];

static void come_and_go(UNUSED void *argument)
{
	for (size_t i = 0; i < 500; i++)
		CHECK((left[i] = ash_alloc(16 + i * 2)) != NULL);
}

TEST(growth_is_bounded_where_threads_come_and_go, 60)
{
	for (int i = 0; i < (rt_under_qemu() ? 100 : 400); i++) {
		rt_in_thread(come_and_go, NULL);
		release_each(left, 500);
		CHECK(chunks() <= 8); /* a thread leaves up to 40 slabs: half a chunk and more */
	}
	CHECK_EQ(ash_check(), 0);
}
