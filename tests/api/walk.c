/* SPDX-License-Identifier: MIT */
/* The walk over the default heap: alone, beside threads that work, and in a handler. */
/* promises: ash_heap_walk */
#include "support/blocks.h"
#include "support/handler_at_step.h"

enum { BLOCKS = 3000 };

/* The book: blocks by their address, and how often each was seen. */
static struct entry {
	char *p;
	size_t size;
	unsigned seen;
} book[BLOCKS];
static size_t entries, strangers;

static void enter(char *p)
{
	size_t i;

	CHECK(p != NULL && entries < BLOCKS);
	/* Sorted, so that the walk's visits can be looked up. */
	for (i = entries++; i > 0 && book[i - 1].p > p; i--)
		book[i] = book[i - 1];
	book[i] = (struct entry){p, ash_usable_size(p), 0};
}

/* Returns the entry at or before an address, or NULL if there is no such entry. */
static struct entry *look_up(const char *p)
{
	size_t low = 0, high = entries;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (book[middle].p <= p)
			low = middle + 1;
		else
			high = middle;
	}
	return low > 0 ? &book[low - 1] : NULL;
}

static int see(void *context, void *block, size_t size, const struct ash_heap_owner *owner)
{
	char *p = block;
	struct entry *e = look_up(p), *next = e == NULL ? book : e + 1;

	CHECK(context == book && owner->id == 1 && owner->live && owner->pid > 0);
	CHECK(ash_good_size(size) == size || size > MIB);
	if (e != NULL && e->p == p) {
		CHECK_EQ(e->size, size);
		e->seen++;
		return 0;
	}
	/* Another thread's: it may not overlap a live block. */
	strangers++;
	CHECK(e == NULL || p >= e->p + e->size);
	CHECK(next == book + entries || p + size <= next->p);
	return 0;
}

static void walk(void)
{
	size_t i;

	strangers = 0;
	CHECK_EQ(ash_heap_walk(NULL, see, book), 0);
	for (i = 0; i < entries; i++) {
		CHECK_EQ(book[i].seen, 1);
		book[i].seen = 0;
	}
}

static void fill_book(size_t blocks, bool large)
{
	struct rt_random random;
	size_t i;

	rt_seed(&random, rt_test_seed());
	for (i = 0; i < blocks; i++)
		enter(ash_alloc(stamp_random_size(&random, false)));
	for (i = 0; large && i < 5; i++) {
		enter(ash_alloc(MIB + 1 + (size_t)i * MIB));
		enter(ash_aligned_alloc((size_t)4096 << i, 5000));
		enter(ash_alloc(100000 * (i + 1)));
	}
}

static int stop(void *context, UNUSED void *block, UNUSED size_t size, UNUSED const struct ash_heap_owner *owner)
{
	return ++*(int *)context == 7 ? 70 : 0;
}

static int release_next(UNUSED void *context, void *block, UNUSED size_t size, UNUSED const struct ash_heap_owner *owner)
{
	struct entry *e = look_up(block);

	CHECK(e != NULL && e->p == block && e->seen++ == 0);
	ash_release(block);
	/* And the one behind it, which then is visited no more. */
	if (e + 1 < book + entries && e[1].seen++ == 0)
		ash_release(e[1].p);
	return 0;
}

TEST(walk_alone, 10)
{
	int calls = 0;
	size_t i;

	CHECK_EQ(ash_heap_walk(NULL, stop, &calls), 0);
	fill_book(2000, true);
	walk();
	CHECK_EQ(strangers, 0);
	CHECK(ash_heap_walk(NULL, stop, &calls) == 70 && calls == 7);
	/* A released block is not walked any more, whichever thread released it. */
	for (i = 0; i < entries; i++)
		if (i % 3 == 0)
			ash_release(book[i].p);
	for (i = entries = 0; i < 2015; i++)
		if (i % 3 != 0)
			book[entries++] = book[i];
	walk();
	CHECK_EQ(strangers, 0);
	CHECK_EQ(ash_heap_walk(NULL, release_next, NULL), 0);
	CHECK_EQ(stats_now().blocks, 0);
	CHECK_EQ(ash_check(), 0);
}

static _Atomic bool done;

/* Slabs come and go in all classes, so that each record has many, of many sizes. */
static void churn(void *argument)
{
	struct rt_random random;
	uint64_t stamps[64] = {0};

	rt_seed(&random, rt_test_seed() + *(unsigned *)argument);
	while (!done) {
		size_t size = stamp_random_size(&random, true), i, n = 1 + rt_below(&random, 64);

		for (i = 0; i < n; i++)
			stamps[i] = stamp_set(ash_alloc(size), size, i);
		for (i = 0; i < n; i++)
			stamp_release(stamps[i]);
		if (rt_below(&random, 20) == 0)
			ash_thread_detach();
	}
}

TEST(walk_beside_threads, 20)
{
	enum { THREADS = 3 };
	struct rt_thread *thread[THREADS];
	unsigned key[THREADS], i, walks = rt_under_qemu() ? 20 : 100;
	struct ash_block b;
	size_t n;

	fill_book(300, true);
	for (i = 0; i < THREADS; i++) {
		key[i] = i;
		thread[i] = rt_thread_start(churn, &key[i]);
	}
	for (i = 0; i < walks; i++) {
		walk();
		for (n = i % 7; n < entries; n += 7) {
			CHECK_EQ(ash_find(book[n].p + book[n].size - 1, &b), ASH_TAKEN);
			CHECK(b.start == book[n].p && b.size == book[n].size);
		}
		rt_yield();
	}
	done = true;
	rt_threads_join(thread, THREADS);
	walk();
	CHECK_EQ(strangers, 0);
}

/* ---- in a handler, at each step of a call ---- */

static size_t call_size;

DOES(call_alloc_release, ash_release(ash_alloc(call_size)));
DOES(call_resize, ash_release(ash_resize(ash_alloc(call_size), 3 * call_size)));

static void walk_here(void)
{
	struct ash_block b;

	walk();
	CHECK(strangers <= 2); /* the block of the call, and the block that it is moved to */
	CHECK(ash_find(book[3].p + 1, &b) == ASH_TAKEN && b.start == book[3].p);
}

TEST(walk_at_each_step, 30)
{
	static const size_t sizes[] = {40, 3000, 60000, 300000, 3000000};
	size_t stride = rt_in_full() ? 1 : rt_under_qemu() ? 97 : 17, i, k;

	fill_book(20, false);
	step_begin(walk_here);
	for (i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		call_size = sizes[i];
		for (k = i % stride; with_act_at(k, call_alloc_release); k += stride)
			if (k % 4 == 0)
				ash_thread_detach();
		/* A copy is stepped word by word. */
		for (k = i % stride; call_size < 1000 && with_act_at(k, call_resize); k += stride)
			;
	}
}
