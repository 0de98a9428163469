/* SPDX-License-Identifier: MIT */
/* Heaps inside memory of the caller's that processes share, some of which are killed. */
#include "arena/arena_call.h"
#include "heaps/instance.h"
#include "pages.h"
#include "support/heap_in.h"
#include "support/stamp.h"

enum { SIGKILL = 9 };

static struct arena *f;
static ash_heap *h;

enum { SHARED = 1 << 20, SLOTS = 200, WORKERS = 4 };

static void work(uint64_t *slots, struct rt_random *random, size_t rounds)
{
	for (size_t n = 0; n < rounds; n++) {
		size_t size = 8 + rt_below(random, (size_t)8 << rt_below(random, 11));
		void *p = ash_heap_alloc(h, size);
		uint64_t stamp = p == NULL ? 0 : stamp_set(p, size, rt_next(random));

		stamp = __atomic_exchange_n(&slots[rt_below(random, SLOTS)], stamp,
					    __ATOMIC_ACQ_REL);
		if (stamp != 0)
			stamp_release(stamp);
	}
}

static uint64_t *share(void)
{
	char *p = NOT_NULL(pages_reserve(SHARED + PAGE_SIZE, PAGE_SIZE, PAGES_SHARED));

	h = ash_heap_create_in(p + PAGE_SIZE, SHARED);
	f = arena_of(h);
	return (uint64_t *)(void *)p;
}

static long worker(uint64_t *slots, size_t number, size_t rounds)
{
	long pid = rt_fork();
	struct rt_random random;

	if (pid != 0)
		return pid;
	rt_seed(&random, rt_test_seed() + number);
	work(slots, &random, rounds);
	rt_exit(0);
}

TEST(arena_shared_by_processes, 60)
{
	uint64_t *slots = share();
	struct rt_random random;
	long pid[WORKERS];
	struct ash_statistics st;
	size_t i;

	rt_seed(&random, rt_test_seed());
	for (i = 0; i < WORKERS; i++)
		pid[i] = worker(slots, i + 1, 100000);
	work(slots, &random, 100000);
	for (i = 0; i < WORKERS; i++)
		CHECK_EQ(rt_wait(pid[i]), 0);
	for (i = 0; i < SLOTS; i++)
		if (slots[i] != 0)
			stamp_release(slots[i]);
	CHECK_EQ(arena_check(f), 0);
	ash_heap_stats(h, &st);
	CHECK_EQ(st.blocks, 0);
	CHECK_EQ(st.dirty, st.reserved);
}

TEST(arena_survives_random_kills, 60)
{
	enum { KILLS = 60 };
	uint64_t *slots = share();
	struct rt_random random;
	size_t i, in_flight = 0;
	struct ash_statistics st;
	long pid[WORKERS];

	rt_seed(&random, rt_test_seed());
	for (i = 0; i < WORKERS; i++)
		pid[i] = worker(slots, i, SIZE_MAX);
	for (i = 0; i < KILLS + WORKERS; i++) {
		size_t who = i % WORKERS;

		work(slots, &random, 1 + rt_below(&random, 300));
		rt_sleep(rt_below(&random, 2000000));
		CHECK_EQ(arena_check(f), 0);
		rt_kill(pid[who], SIGKILL);
		CHECK_EQ(rt_wait(pid[who]), 1000 + SIGKILL);
		if (i < KILLS)
			pid[who] = worker(slots, 10 + i, SIZE_MAX);
	}
	/* Between the slots and the heap a worker has up to two blocks in hand. */
	for (i = 0; i < SLOTS; i++)
		if (slots[i] != 0)
			stamp_release(slots[i]);
	CHECK_EQ(arena_check(f), 0);
	(void)ash_heap_walk(h, count_flight, &in_flight);
	ash_heap_stats(h, &st);
	rt_print("     %d kills: %zu blocks in hand, %zu in flight\n", KILLS + WORKERS, st.blocks,
		 in_flight);
	CHECK(st.blocks + in_flight <= 2 * (KILLS + WORKERS));
}
