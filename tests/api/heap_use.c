/* SPDX-License-Identifier: MIT */
/* Heaps that the program made, of each kind: threads, handlers, fork. */
/* promises: ash_heap_create, ash_heap_create_shared, ash_heap_create_in, ash_heap_zalloc */
#include "support/blocks.h"
#include "support/shared_heap.h"
#include "support/stamp.h"

/* libashlar-field.a, which has these tests too, has heaps in the caller's memory alone. */
#pragma weak ash_heap_create
#pragma weak ash_check

enum kind { PRIVATE, SHARED, IN };
enum { SIGALRM = 14, THREADS = 4, CHILDREN = 4, SLOTS = 256 };

static _Alignas(64) char memory[1 << 20];
static ash_heap *heap;
static enum kind kind;

static void heap_make(enum kind which)
{
	kind = which;
	if (kind == SHARED && !has_shared_heaps())
		rt_skip("no store in this tree");
	heap = kind == IN       ? ash_heap_create_in(memory, sizeof memory)
	       : kind == SHARED ? ash_heap_create_shared((size_t)1 << 30, NULL)
				: ash_heap_create(NULL);
	CHECK(heap != NULL);
}

static void nothing_left(void)
{
	CHECK_EQ(ash_heap_check(heap), 0);
	CHECK_EQ(stats_of(heap).blocks, 0);
	if (kind == IN)
		CHECK_EQ(stats_of(heap).dirty, stats_of(heap).reserved);
	else
		CHECK_EQ(ash_check(), 0);
}

/* A stamp without its block is 0; blocks go from thread to thread by these. */
static _Atomic uint64_t slots[SLOTS];

/* Each second block is zero; now and then one is a span, where there is room for one. */
static uint64_t make(struct rt_random *random, size_t n)
{
	size_t most = kind != IN && n % 100 == 99 ? 3 * MIB : (size_t)8 << rt_below(random, 11);
	size_t size = 8 + rt_below(random, most), i;
	uint64_t *p = n % 2 == 0 ? ash_heap_alloc(heap, size) : ash_heap_zalloc(heap, 1, size);

	CHECK(p != NULL || kind == IN);
	if (p == NULL)
		return 0;
	for (i = 0; n % 2 == 1 && i < size / 8; i += stamp_step(size / 8, i))
		CHECK_EQ(p[i], 0);
	return stamp_set(p, size, rt_next(random));
}

static void exchange_blocks(struct rt_random *random, size_t rounds)
{
	for (size_t n = 0; n < rounds; n++) {
		size_t size = 8 + rt_below(random, (size_t)8 << rt_below(random, 11)), before;
		uint64_t stamp = make(random, n);
		void *p;

		stamp = __atomic_exchange_n((uint64_t *)(void *)&slots[rt_below(random, SLOTS)],
					    stamp, __ATOMIC_ACQ_REL);
		if (stamp == 0)
			continue;
		stamp_check(stamp);
		if (n % 4 == 0) {
			before = stamp_size(stamp);
			p = ash_heap_resize(heap, stamp_block(stamp), size);
			if (p == NULL)
				p = stamp_block(stamp);
			else
				stamp = (uintptr_t)p >> 3 | (stamp >> STAMP_SHIFT) << STAMP_SHIFT;
			stamp_check_some(stamp, before, before < size ? before : size);
		}
		if (n % 3 == 0)
			ash_heap_release(heap, stamp_block(stamp));
		else
			ash_release(stamp_block(stamp));
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
	size_t rounds = kind == IN ? 200000 : 20000;

	rt_seed(&random, rt_test_seed() + *(const size_t *)seed);
	exchange_blocks(&random, rt_under_qemu() ? rounds / 5 : rounds);
}

static void threads_in(enum kind which)
{
	size_t seed[THREADS], i;
	struct rt_thread *thread[THREADS];

	heap_make(which);
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
	/* The system frees a thread's id some time after it has told that the thread ended. */
	while (kind != IN && stats_of(heap).slabs != 0) {
		rt_yield();
		(void)ash_heap_trim(heap, 0);
		nothing_left();
	}
}

TEST_CALL(heap_threads, 60, threads_in(PRIVATE));
TEST_CALL(heap_shared_threads, 60, threads_in(SHARED));
TEST_CALL(heap_in_threads, 60, threads_in(IN));

static struct rt_random handlers;
static volatile size_t handled;

static void handler(UNUSED int number, UNUSED void *info, UNUSED void *context)
{
	exchange_blocks(&handlers, kind == IN ? 30 : 6); /* or the next is due before one has ended */
	handled++;
}

static void signals_in(enum kind which)
{
	struct rt_random random;
	uint64_t end = rt_now() + 1000000000u;

	heap_make(which);
	rt_seed(&random, rt_test_seed());
	rt_seed(&handlers, rt_test_seed() + 1);
	rt_signal(SIGALRM, handler);
	rt_timer(rt_emulated() ? 1500 : 150); /* the emulator needs as long for a handler */
	while (rt_now() < end || handled <= 100)
		exchange_blocks(&random, 100);
	rt_timer(0);
	empty_slots();
	nothing_left();
}

TEST_CALL(heap_signals, 60, signals_in(PRIVATE));
TEST_CALL(heap_shared_signals, 60, signals_in(SHARED));
TEST_CALL(heap_in_signals, 60, signals_in(IN));

/* Private memory: each child has a copy of its own, with all its blocks. */
static void fork_copies(enum kind which)
{
	struct ash_statistics before;
	struct rt_random random;
	long pid[CHILDREN];

	heap_make(which);
	rt_seed(&random, rt_test_seed());
	exchange_blocks(&random, 3000);
	before = stats_of(heap);
	for (int i = 0; i < CHILDREN; i++) {
		pid[i] = rt_fork();
		if (pid[i] == 0) {
			exchange_blocks(&random, kind == IN ? 20000 : 2000);
			empty_slots();
			nothing_left();
			ash_heap_destroy(heap);
			rt_exit(0);
		}
	}
	CHECK_EQ(before.block_bytes, stats_of(heap).block_bytes);
	exchange_blocks(&random, kind == IN ? 20000 : 2000);
	for (int i = 0; i < CHILDREN; i++)
		CHECK_EQ(rt_wait(pid[i]), 0);
	empty_slots();
	nothing_left();
}

TEST_CALL(heap_fork_copies, 60, fork_copies(PRIVATE));
TEST_CALL(heap_in_fork_copies, 60, fork_copies(IN));
