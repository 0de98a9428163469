/* SPDX-License-Identifier: MIT */
/* Trim gives back memory that others released into slabs of threads that sleep, and memory that records cache. */
/* promises: ash_trim */
#include "support/resident.h"
#include "support/blocks.h"

enum { THREADS = 4 };
static struct rt_barrier filled_up = {.count = THREADS + 1}, wake = {.count = THREADS + 1};
static unsigned char **block;
static size_t block_size, per_thread;

static unsigned char value(size_t i)
{
	return (unsigned char)(i % 251 + 1);
}

/* Fills its part, sleeps, and then takes as many again, which no other thread writes. */
static void sleeper(void *argument)
{
	size_t me = (size_t)(uintptr_t)argument, first = me * per_thread, i, k;

	for (i = first; i < first + per_thread; i++) {
		block[i] = NOT_NULL(ash_alloc(block_size));
		memset(block[i], value(i), block_size);
	}
	rt_barrier_wait(&filled_up);
	rt_barrier_wait(&wake);
	for (i = first; i < first + per_thread; i++) {
		if (block[i] != NULL)
			continue;
		block[i] = NOT_NULL(ash_zalloc(1, block_size));
		for (k = 0; k < block_size; k += 64)
			CHECK_EQ(block[i][k], 0);
		memset(block[i], value(i), block_size);
	}
	for (i = first; i < first + per_thread; i++) {
		for (k = 0; k < block_size; k += 64)
			CHECK_EQ(block[i][k], value(i));
		ash_release(block[i]);
	}
}

/* One block in `every` stays. */
static void asleep(size_t size, size_t every)
{
	struct rt_thread *t[THREADS];
	size_t bytes = scaled(16 * MIB, 2 * MIB), count, i, before, base, told, left, stays = 0;

	needs_small_pages();
	block_size = size;
	per_thread = bytes / size;
	count = THREADS * per_thread;
	block = rt_map(count * sizeof(*block));
	memset(block, 0, count * sizeof(*block)); /* its pages are not counted below */
	(void)ash_trim(0);
	base = rt_anonymous();
	for (i = 0; i < THREADS; i++)
		t[i] = NOT_NULL(rt_thread_start(sleeper, (void *)(uintptr_t)i));
	rt_barrier_wait(&filled_up);
	before = rt_anonymous();
	for (i = 0; i < count; i++) {
		if (every != 0 && i % every == 0) {
			stays++;
			continue;
		}
		ash_release(block[i]);
		block[i] = NULL;
	}
	told = ash_trim(0);
	if (figures())
		CHECK(told <= before);
	left = rt_anonymous() > base ? rt_anonymous() - base : 0;
	rt_print("     %zu-byte blocks, one in %zu stays: %zu KiB of %zu left\n", size, every,
		 left / KIB, (before - base) / KIB);
	/* Allowed are the current slab of each thread, the blocks that stay, and records. */
	if (figures())
		CHECK(left <= stays * (size + 2 * PAGE) + THREADS * (256 * KIB + size) + 2 * MIB +
				      (before - base) / 28); /* records: 3.5 % */
	CHECK_EQ(ash_check(), 0);
	rt_barrier_wait(&wake);
	rt_threads_join(t, THREADS);
	rt_unmap(block, count * sizeof(*block));
	CHECK_EQ(ash_check(), 0);
}

TEST(trim_slabs_of_sleeping_threads, 30)
{
	asleep(64, 0);
	asleep(1000, 0);
	asleep(20000, 0);
	asleep(100000, 0);
	asleep(700000, 0);
}

TEST(trim_inside_slabs_of_sleeping_threads, 30)
{
	asleep(64, 2000);
	asleep(1000, 100);
	asleep(20000, 7);
	asleep(100000, 3);
}

/* ---- while its owner is awake ---- */

static _Atomic bool done;

static void trimmer(UNUSED void *argument)
{
	while (!done)
		(void)ash_trim(0);
}

/* Blocks that a trim purged under their owner would read zero. */
static void works(unsigned seed, int operations)
{
	enum { LIVE = 400 };
	static struct live {
		unsigned char *p;
		size_t size;
	} all[2][LIVE];
	struct live *live = all[seed % 2];
	struct rt_random random;

	rt_seed(&random, seed);
	for (int n = 0; n < operations; n++) {
		size_t at = rt_below(&random, LIVE), size;

		if (live[at].p != NULL) {
			CHECK_EQ(live[at].p[0], value(at));
			CHECK_EQ(live[at].p[live[at].size / 2], value(at));
			CHECK_EQ(live[at].p[live[at].size - 1], value(at));
			ash_release(live[at].p);
			live[at].p = NULL;
			continue;
		}
		size = 1 + rt_below(&random, (size_t)16 << rt_below(&random, 14));
		live[at].p = NOT_NULL(ash_alloc(size));
		live[at].size = size;
		live[at].p[0] = live[at].p[size / 2] = live[at].p[size - 1] = value(at);
	}
	for (size_t at = 0; at < LIVE; at++)
		ash_release(live[at].p);
}

static void worker(void *argument)
{
	works((unsigned)(uintptr_t)argument, rt_under_qemu() ? 3000 : 60000);
}

TEST(trim_beside_owners_at_work, 60)
{
	struct rt_thread *t = rt_thread_start(trimmer, NULL), *w[2];

	for (size_t i = 0; i < 2; i++)
		w[i] = rt_thread_start(worker, (void *)(uintptr_t)(i + 7));
	rt_threads_join(w, 2);
	done = true;
	rt_thread_join(t);
	CHECK_EQ(ash_check(), 0);
}

/* ---- many threads that worked once, with no live block: the memory that their records cache ---- */

enum { IDLE = 100, LIVE = 300 };
static struct rt_barrier both = {.count = IDLE + 1};

static void worked_once(void *argument)
{
	static unsigned char *all[IDLE][LIVE];
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
	struct rt_thread *t[IDLE];
	size_t base, idle, left;

	needs_small_pages();
	ash_release(ash_alloc(100));
	base = rt_anonymous();
	for (uintptr_t i = 0; i < IDLE; i++)
		CHECK((t[i] = rt_thread_start(worked_once, (void *)i)) != NULL);
	rt_barrier_wait(&both);
	idle = rt_anonymous();
	(void)ash_trim(0);
	left = rt_anonymous();
	if (figures()) {
		rt_print("     %zu KiB a thread, %zu after a trim\n", (idle - base) / IDLE / KIB, (left - base) / IDLE / KIB);
		CHECK(idle <= base + IDLE * 1000 * KIB);
		CHECK(left <= base + IDLE * 400 * KIB);
	}
	CHECK_EQ(ash_check(), 0);
	rt_barrier_wait(&both);
	rt_threads_join(t, IDLE);
	CHECK_EQ(ash_check(), 0);
}
