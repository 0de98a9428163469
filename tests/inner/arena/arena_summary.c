/* SPDX-License-Identifier: MIT */
/* The summary of an arena against its words: every promise is kept, whatever interrupts a call. */
#include "arena/arena.h"
#include "arena/arena_call.h"
#include "heaps/instance.h"
#include "support/handler_at_step.h"
#include "support/heap_in.h"

enum { BYTES = 300 << 10, LIVE = 400 };

static char memory[BYTES];
static ash_heap *heap;
static struct arena *a;
static void *live[LIVE];
static struct rt_random random;

static size_t byte_of(size_t i)
{
	return ((const unsigned char *)&a->words[a->word_count])[i];
}

static bool is_free(size_t granule)
{
	return granule < a->granules &&
	       (arena_free(load_acquire(&a->words[granule / ARENA_WORD])) >> granule % ARENA_WORD & 1) != 0;
}

/* I14: each leaf is not less than the runs that begin in its word, each other byte than its group. */
static bool promises_are_kept(void)
{
	size_t at, n, i;

	for (at = 0; at < a->granules; at += n + 1) {
		for (n = 0; is_free(at + n); n++)
			;
		if (byte_of(a->leaves + at / ARENA_WORD) < (n < SUMMARY_MOST ? n : SUMMARY_MOST))
			return false;
	}
	for (i = SUMMARY_FAN; i < a->leaves + a->word_count; i++)
		if (byte_of(i / SUMMARY_FAN - 1) < byte_of(i))
			return false;
	return true;
}

static void start(void)
{
	heap = NOT_NULL(ash_heap_create_in(memory, sizeof memory));
	a = arena_of(heap);
	CHECK(a->word_count > 64 * SUMMARY_FAN); /* four levels */
	CHECK(promises_are_kept());
	memset(live, 0, sizeof live);
	rt_seed(&random, rt_test_seed());
}

/* NULL is right only where no run is long enough. */
static bool has_run(size_t n, size_t alignment)
{
	size_t at, run = 0, first, start_of = (uintptr_t)a->base / GRANULE;

	for (at = 0; at < a->granules; at++) {
		run = is_free(at) ? run + 1 : 0;
		if (run == 0)
			continue;
		first = start_of + at + 1 - run;
		first = (first + alignment - 1) / alignment * alignment;
		if (first + n <= start_of + at + 1)
			return true;
	}
	return false;
}

static void *alloc(size_t size, size_t alignment)
{
	void *p = arena_alloc(a, size, alignment);

	if (p == NULL)
		CHECK(a->changing != 0 || !has_run((size + GRANULE - 1) / GRANULE, alignment / GRANULE));
	return p;
}

static void random_operation(size_t most)
{
	size_t i = rt_below(&random, LIVE), what = rt_below(&random, 10);
	size_t size = 1 + rt_below(&random, (size_t)1 << rt_below(&random, most));
	void *p;

	if (live[i] == NULL) {
		live[i] = alloc(size, what == 0 ? (size_t)16 << rt_below(&random, 8) : GRANULE);
	} else if (what < 3) {
		p = arena_resize(a, live[i], size, 1);
		live[i] = p != NULL ? p : live[i];
	} else {
		CHECK(arena_release(a, live[i]));
		live[i] = NULL;
	}
}

static void release_all(void)
{
	for (size_t i = 0; i < LIVE; i++)
		if (live[i] != NULL)
			CHECK(arena_release(a, live[i]));
	CHECK(promises_are_kept());
	CHECK_EQ(a->changing, 0);
	CHECK(alloc(a->granules * GRANULE, GRANULE) != NULL);
}

TEST(arena_summary_after_random_operations, 60)
{
	size_t n;

	start();
	for (n = 0; n < 60000; n++) {
		/* Small blocks, then some of half the memory. */
		random_operation(n / 4096 % 2 == 0 ? 10 : 17);
		if (n % 16 == 0)
			CHECK(promises_are_kept());
	}
	release_all();
}

/* ---- interrupted: a handler does the same at any instruction ---- */

enum { OURS = 200 };

/* A call is under way: its promise need not hold yet, but a run that it hides must be found. */
static void operate_in_handler(void)
{
	size_t size = 1 + rt_below(&random, 3000), i = OURS + rt_below(&random, LIVE - OURS);
	void *p;

	if (live[i] != NULL) {
		CHECK(arena_release(a, live[i]));
		live[i] = NULL;
	}
	p = arena_alloc(a, size, GRANULE);
	if (p == NULL)
		CHECK(!has_run((size + GRANULE - 1) / GRANULE, 1));
	live[i] = p;
}

static size_t slot;

static void operation(void)
{
	size_t i = slot;

	if (live[i] == NULL) {
		live[i] = arena_alloc(a, 1 + i * 37 % 4000, i % 10 == 0 ? 256 : GRANULE);
	} else {
		CHECK(arena_release(a, live[i]));
		live[i] = NULL;
	}
}

TEST(arena_summary_interrupted_at_each_step, 120)
{
	size_t n, k, acts = 0, rounds = rt_in_full() ? 4000 : rt_under_qemu() ? 100 : 400;

	start();
	for (n = 0; n < 20 * LIVE; n++)
		random_operation(12);
	step_begin(operate_in_handler);
	for (n = 0; n < rounds; n++) {
		slot = rt_below(&random, OURS);
		k = rt_below(&random, 400);
		acts += with_act_at(k, operation);
		CHECK_EQ(a->changing, 0);
		CHECK(promises_are_kept());
	}
	CHECK(acts > rounds / 4);
	release_all();
}

/* ---- runs left by a death ---- */

/* A call that was killed behind its release hides a run; a search that finds nothing else does find it. */
TEST(arena_summary_hides_nothing_for_ever, 10)
{
	unsigned char *bytes;
	void *p, *q;

	start();
	p = alloc(a->granules * GRANULE, GRANULE);
	bytes = (unsigned char *)&a->words[a->word_count];
	CHECK(arena_release(a, p));
	memset(bytes, 0, summary_groups(a->word_count) * sizeof(uintptr_t));
	a->changing = 1;
	p = NOT_NULL(arena_alloc(a, 5000, GRANULE));
	q = NOT_NULL(arena_alloc(a, 40, 4096));
	CHECK(arena_release(a, p) && arena_release(a, q));
	CHECK(arena_alloc(a, a->granules * GRANULE, GRANULE) == a->base);
}

/* Promises of memory that is not there cost a look each, and no block is given twice. */
TEST(arena_summary_of_false_promises, 10)
{
	size_t i, n = 0, size;

	start();
	while (arena_alloc(a, GRANULE, GRANULE) != NULL)
		n++;
	CHECK_EQ(n, a->granules);
	for (i = 0; i < a->leaves + a->word_count; i++)
		if (i >= a->leaves || i + 1 < summary_groups(a->word_count))
			((unsigned char *)&a->words[a->word_count])[i] = SUMMARY_MOST;
	for (size = GRANULE; size < (size_t)3000; size += 500)
		CHECK(arena_alloc(a, size, GRANULE) == NULL);
	/* A search that goes on behind a word corrects its leaf; the next searches correct the bytes above it. */
	for (i = 0; i < 4; i++)
		CHECK(arena_alloc(a, GRANULE, GRANULE) == NULL);
	CHECK(byte_of(0) == 0);
	for (i = 0; i < a->word_count; i++)
		CHECK(byte_of(a->leaves + i) == 0);
	CHECK_EQ(ash_heap_check(heap), 0);
}
