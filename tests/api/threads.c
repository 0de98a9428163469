/* SPDX-License-Identifier: MIT */
/* Threads that work on one heap: blocks pass between them, threads come and go. */
/* promises: ash_alloc, ash_check, ash_release */
#include "support/blocks.h"
#include "support/stamp.h"

#include <stdatomic.h>

/* ---- random work, blocks passed through a table ---- */

enum { TABLE = 1024, LOCAL = 64, WORKERS = 8, LIVES = 12 };

static _Atomic uint64_t table[TABLE]; /* stamps; 0 means no block */
static _Atomic bool done;

struct work {
	uint64_t seed;
	size_t operations;
};

static void swap_with_table(struct rt_random *r, uint64_t *mine)
{
	*mine = atomic_exchange(&table[rt_below(r, TABLE)], *mine);
	if (*mine != 0)
		stamp_check(*mine);
}

static void work_body(void *argument)
{
	const struct work *w = argument;
	uint64_t local[LOCAL] = {0};
	struct rt_random random;

	rt_seed(&random, w->seed);
	for (size_t n = 0; n < w->operations; n++) {
		uint64_t *mine = &local[rt_below(&random, LOCAL)];
		unsigned what = (unsigned)rt_below(&random, 8);

		if (rt_below(&random, 5000) == 0)
			ash_trim(rt_below(&random, 2) << 22); /* regions go while others come */
		if (*mine == 0) {
			*mine = stamp_alloc(&random, true);
		} else if (what < 3) {
			stamp_release(*mine);
			*mine = 0;
		} else if (what == 3) {
			bool span = rt_below(&random, 8) == 0; /* spans are rare, resized ones not */

			*mine = stamp_resize(*mine, stamp_random_size(&random, span), n);
		} else {
			swap_with_table(&random, mine);
		}
	}
	/* Blocks that are left go to others, which release them when this thread is no more. */
	for (size_t i = 0; i < LOCAL; i++) {
		swap_with_table(&random, &local[i]);
		if (local[i] != 0)
			stamp_release(local[i]);
	}
}

static void check_body(UNUSED void *argument)
{
	while (!atomic_load(&done)) {
		CHECK_EQ(ash_check(), 0);
		CHECK(stats_now().owners <= WORKERS + 2);
		rt_sleep(200000);
	}
}

TEST(threads_pass_blocks, 120)
{
	struct rt_thread *threads[WORKERS] = {NULL}, *checker;
	static struct work work[LIVES][WORKERS];
	size_t operations = rt_in_full() ? 10000000 : rt_under_qemu() ? 500000 : 700000;

	checker = rt_thread_start(check_body, NULL);
	/* One after the other ends, and another one starts while the rest go on. */
	for (size_t i = 0; i < LIVES * WORKERS; i++) {
		struct rt_thread **thread = &threads[i % WORKERS];
		struct work *w = &work[i / WORKERS][i % WORKERS];

		if (*thread != NULL)
			rt_thread_join(*thread);
		w->seed = rt_test_seed() + i;
		w->operations = operations / (LIVES * WORKERS) * (8 + i % 5) / 10;
		*thread = NOT_NULL(rt_thread_start(work_body, w));
	}
	rt_threads_join(threads, WORKERS);
	CHECK_EQ(ash_check(), 0);
	CHECK(stats_now().blocks > TABLE / 2 && stats_now().blocks <= TABLE);
	atomic_store(&done, true);
	rt_thread_join(checker);
	for (size_t i = 0; i < TABLE; i++)
		if (table[i] != 0)
			stamp_release(table[i]);
	stamp_check_nothing_left();
	CHECK_EQ(stats_now().pending, 0);
}

/* ---- no line of memory serves two threads ---- */

enum { FRESH = 3000, SHARERS = 4, LINE = 64, LINES = 1 << 16 };

static struct rt_barrier together;
static void *fresh[SHARERS][FRESH];

static void fresh_body(void *blocks)
{
	void **p = blocks;

	for (size_t i = 0; i < FRESH; i++) {
		if (i % 100 == 0)
			rt_barrier_wait(&together);
		p[i] = ash_alloc(16);
	}
}

TEST(threads_share_no_line, 20)
{
	static struct {
		uintptr_t line;
		size_t thread;
	} lines[LINES];
	struct rt_thread *threads[SHARERS];

	together.count = SHARERS;
	for (size_t t = 0; t < SHARERS; t++)
		threads[t] = rt_thread_start(fresh_body, fresh[t]);
	rt_threads_join(threads, SHARERS);
	for (size_t t = 0; t < SHARERS; t++)
		for (size_t i = 0; i < FRESH; i++) {
			uintptr_t line = (uintptr_t)fresh[t][i] / LINE;
			size_t at = line % LINES;

			while (lines[at].line != 0 && lines[at].line != line)
				at = (at + 1) % LINES;
			if (lines[at].line == line)
				CHECK_EQ(lines[at].thread, t);
			lines[at].line = line;
			lines[at].thread = t;
		}
	for (size_t t = 0; t < SHARERS; t++)
		release_each(fresh[t], FRESH);
	stamp_check_nothing_left();
}

/* ---- looking while others change the heap ---- */

static _Atomic size_t spans_gone;

static void spans_body(void *seed)
{
	struct rt_random random;

	rt_seed(&random, *(const uint64_t *)seed);
	while (!atomic_load(&done)) {
		uint64_t span = 0;

		for (size_t n = 0; n < 3; n++) {
			size_t size = ((size_t)2 << 20) * (1 + rt_below(&random, 12));

			span = n == 0 ? stamp_set(ash_alloc(size), size, 1)
				      : stamp_resize(span, size, n);
		}
		stamp_release(span);
		for (size_t n = 0; n < 50; n++) {
			volatile uint64_t *p = ash_alloc((size_t)3 << 19);

			*p = (uintptr_t)&random + n;
			ash_release(ash_alloc((size_t)5 << 19));
			CHECK_EQ(*p, (uintptr_t)&random + n);
			ash_release((void *)(uintptr_t)p);
		}
		ash_release(ash_alloc((size_t)40000 << rt_below(&random, 4)));
		if (rt_below(&random, 100) == 0)
			ash_trim(0);
		atomic_fetch_add(&spans_gone, 1);
	}
}

TEST(threads_check_while_spans_come_and_go, 30)
{
	static const uint64_t seeds[2] = {1, 2};
	size_t enough = rt_under_qemu() ? 500 : rt_in_full() ? 3000 : 800;
	struct rt_thread *threads[2];

	for (size_t i = 0; i < 2; i++)
		threads[i] = rt_thread_start(spans_body, (void *)(uintptr_t)&seeds[i]);
	while (atomic_load(&spans_gone) < enough)
		CHECK_EQ(ash_check(), 0);
	atomic_store(&done, true);
	rt_threads_join(threads, 2);
	stamp_check_nothing_left();
}
