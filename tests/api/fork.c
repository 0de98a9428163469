/* SPDX-License-Identifier: MIT */
/* A child of fork takes over the memory that the threads of its parent held. */
/* promises: ash_alloc, ash_release */
#include "support/blocks.h"

enum { THREADS = 4, BLOCKS = 20000 };

static void *blocks[THREADS][BLOCKS];
static struct rt_barrier together;
static _Atomic bool stop;

/* Fills slabs of its own, and then works until it is told to stop. */
static void worker(void *argument)
{
	void **mine = blocks[(uintptr_t)argument];

	alloc_each(mine, BLOCKS, 64);
	rt_barrier_wait(&together);
	while (!stop)
		ash_release(ash_alloc(200));
}

static void in_every_class(void)
{
	size_t size;

	for (size = 1; size < (3u << 20); size += size / 9 + 1) {
		char *p = NOT_NULL(ash_zalloc(1, size));

		for (size_t i = 0; i < size; i += 511)
			CHECK_EQ(p[i], 0);
		memset(p, 0xa5, size);
		ash_release(p);
	}
}

static void child(bool nested)
{
	struct ash_statistics before, after;
	size_t i, t;

	ash_stats(&before);
	for (t = 0; t < THREADS; t++)
		release_each(blocks[t], BLOCKS);
	/* As many again fit into the memory that the others held: the heap does not grow, where threads own memory. */
	for (i = 0; i < THREADS * BLOCKS; i++)
		blocks[0][i] = ash_alloc(64);
	CHECK(before.owners == 0 || stats_now().reserved == before.reserved);
	in_every_class();
	CHECK_EQ(ash_check(), 0);
	if (nested) {
		IN_CHILD {
			in_every_class();
			CHECK_EQ(ash_check(), 0);
		}
	}
	release_each(blocks[0], THREADS * BLOCKS);
	CHECK_EQ(ash_check(), 0);
	ash_stats(&after);
	/* At most the one slot that each vanished thread had in hand. */
	CHECK(after.blocks <= THREADS);
	CHECK_EQ(after.pending, 0);
	rt_exit(0);
}

TEST(fork_takes_over, 60)
{
	struct rt_thread *threads[THREADS];
	unsigned rounds = rt_in_full() ? 40 : rt_under_qemu() ? 3 : 6, i;

	ash_release(ash_alloc(1)); /* else the thread that forks would not be known, see tests/program/vfork.c */
	together.count = THREADS + 1;
	for (i = 0; i < THREADS; i++)
		threads[i] = rt_thread_start(worker, (void *)(uintptr_t)i);
	rt_barrier_wait(&together);
	for (i = 0; i < rounds; i++) {
		IN_CHILD
			child(i % 2 != 0);
	}
	stop = true;
	rt_threads_join(threads, THREADS);
	CHECK_EQ(ash_check(), 0);
}

/* The child's own threads are not mistaken for vanished ones. */
static void child_worker(void *argument)
{
	void *p[100];
	unsigned n, i, me = (unsigned)((uintptr_t)p >> 12); /* each stack is another */

	/* Each has a record before the thread that forked does anything at all. */
	if (argument != NULL)
		ash_release(ash_alloc(5000));
	rt_barrier_wait(&together);
	for (n = 0; n < 1000; n++) {
		for (i = 0; i < 100; i++) {
			p[i] = ash_alloc(1000 + 16 * i);
			memset(p[i], (int)(n ^ me), 1000);
		}
		for (i = 0; i < 100; i++) {
			CHECK_EQ(((unsigned char *)p[i])[999], (unsigned char)(n ^ me));
			ash_release(p[i]);
		}
	}
}

TEST(fork_then_threads, 60)
{
	struct rt_thread *threads[THREADS];
	unsigned i;

	if (rt_under_qemu())
		rt_skip("QEMU 7.2 aborts when a forked child of a threaded process starts a thread");
	ash_release(ash_alloc(5000)); /* the one that forks has a record, too */
	together.count = 2;
	threads[0] = rt_thread_start(worker, NULL);
	rt_barrier_wait(&together);
	IN_CHILD {
		together = (struct rt_barrier){.count = THREADS + 1};
		for (i = 0; i < THREADS; i++)
			threads[i] = rt_thread_start(child_worker, &together);
		child_worker(NULL);
		rt_threads_join(threads, THREADS);
		CHECK_EQ(ash_check(), 0);
	}
	stop = true;
	rt_thread_join(threads[0]);
}
