/* SPDX-License-Identifier: MIT */
/* Heaps inside memory of the caller's: threads, handlers, fork. */
/* promises: ash_heap_create_in */
#include "ashlar_heap.h"
#include "support/stamp.h"

enum { SIGALRM = 14, THREADS = 4, SLOTS = 256 };

static _Alignas(64) char memory[1 << 20];
static ash_heap *heap;

static void nothing_left(void)
{
	struct ash_statistics st;

	CHECK_EQ(ash_heap_check(heap), 0);
	ash_heap_stats(heap, &st);
	CHECK_EQ(st.blocks, 0);
	CHECK_EQ(st.dirty, st.reserved);
}

/* A stamp without its block is 0; blocks go from thread to thread by these. */
static _Atomic uint64_t slots[SLOTS];

static void exchange_blocks(struct rt_random *random, size_t rounds, size_t most)
{
	for (size_t n = 0; n < rounds; n++) {
		size_t size = 8 + rt_below(random, (size_t)8 << rt_below(random, most));
		void *p = ash_heap_alloc(heap, size);
		uint64_t stamp = p == NULL ? 0 : stamp_set(p, size, rt_next(random));

		stamp = __atomic_exchange_n((uint64_t *)(void *)&slots[rt_below(random, SLOTS)],
					    stamp, __ATOMIC_ACQ_REL);
		if (stamp == 0)
			continue;
		if (n % 4 == 0) {
			size_t before = stamp_size(stamp);

			stamp_check(stamp);
			p = ash_heap_resize(heap, stamp_block(stamp), size);
			if (p == NULL)
				p = stamp_block(stamp);
			else
				stamp = (uintptr_t)p >> 3 | (stamp >> STAMP_SHIFT) << STAMP_SHIFT;
			stamp_check_some(stamp, before, before < size ? before : size);
			ash_release(p);
		} else {
			stamp_release(stamp);
		}
	}
}

static void empty_slots(void)
{
	for (size_t i = 0; i < SLOTS; i++) {
		if (slots[i] != 0)
			stamp_release(slots[i]);
		slots[i] = 0;
	}
}

static void thread_main(void *seed)
{
	struct rt_random random;

	rt_seed(&random, rt_test_seed() + *(const size_t *)seed);
	exchange_blocks(&random, rt_under_qemu() ? 40000 : 200000, 11);
}

TEST(heap_in_threads, 60)
{
	size_t seed[THREADS], i;
	struct rt_thread *thread[THREADS];

	heap = ash_heap_create_in(memory, sizeof memory);
	for (i = 0; i < THREADS; i++) {
		seed[i] = i;
		thread[i] = NOT_NULL(rt_thread_start(thread_main, &seed[i]));
	}
	for (i = 0; i < 200; i++) {
		CHECK_EQ(ash_heap_check(heap), 0); /* while they are at work */
		rt_yield();
	}
	rt_threads_join(thread, THREADS);
	empty_slots();
	nothing_left();
}

static struct rt_random handlers;
static volatile size_t handled;

static void handler(UNUSED int number, UNUSED void *info, UNUSED void *context)
{
	exchange_blocks(&handlers, 30, 11);
	handled++;
}

TEST(heap_in_signals, 60)
{
	struct rt_random random;
	uint64_t end = rt_now() + 1000000000u;

	heap = ash_heap_create_in(memory, sizeof memory);
	rt_seed(&random, rt_test_seed());
	rt_seed(&handlers, rt_test_seed() + 1);
	rt_signal(SIGALRM, handler);
	rt_timer(150);
	while (rt_now() < end || handled < 50)
		exchange_blocks(&random, 100, 11);
	rt_timer(0);
	empty_slots();
	nothing_left();
}

/* Private memory: each child has a copy of its own, with all its blocks. */
TEST(heap_in_fork_copies, 60)
{
	struct rt_random random;
	long pid[4];

	heap = ash_heap_create_in(memory, sizeof memory);
	rt_seed(&random, rt_test_seed());
	exchange_blocks(&random, 3000, 11);
	for (int i = 0; i < 4; i++) {
		pid[i] = rt_fork();
		if (pid[i] == 0) {
			exchange_blocks(&random, 20000, 11);
			empty_slots();
			nothing_left();
			rt_exit(0);
		}
	}
	exchange_blocks(&random, 20000, 11);
	for (int i = 0; i < 4; i++)
		CHECK_EQ(rt_wait(pid[i]), 0);
	empty_slots();
	nothing_left();
}
