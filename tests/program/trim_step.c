/* SPDX-License-Identifier: MIT */
/*
 * ash_trim_step: steps end, give back together what ash_trim does, and each is bounded: in system calls,
 * slabs and bytes, which are counted.
 */
/* promises: ash_trim_step */
#include "backend/chunk.h"
#include "backend/retain.h"
#include "support/blocks.h"
#include "support/resident.h"
#include "support/wrap.h"
#include "syscall.h"
#include "thread/seat.h"

enum { MOST_CALLS = 1100, MOST_SLABS = 64 }; /* of a part, as the header says */

static size_t calls, slabs, purged;
WRAP_CALL(madvise, calls++; purged += c == 4 ? (size_t)b : 0)
WRAP_CALL(munmap, calls++)
WRAP_CALL(mremap, calls++)
WRAP_CALL(mmap, calls++)
WRAP_CALL(mincore, calls++)

WRAP(size_t, slabs_purge_held, (struct heap * h, struct slab *s, size_t *room))
{
	slabs++;
	return __real_slabs_purge_held(h, s, room);
}

/* The most by one step. */
static size_t most_calls, most_slabs, most_purged;

/* One step; returns whether the round goes on. */
static bool step(size_t budget)
{
	size_t left;

	calls = slabs = purged = 0;
	left = ash_trim_step(budget);
	most_calls = calls > most_calls ? calls : most_calls;
	most_slabs = slabs > most_slabs ? slabs : most_slabs;
	most_purged = purged > most_purged ? purged : most_purged;
	CHECK(left % CHUNK_SIZE == 0 && left <= stats_now().reserved + CHUNK_SIZE);
	return left != 0;
}

/* Returns how many steps a round took. */
static size_t round_of(size_t budget)
{
	size_t n = 1;

	most_calls = most_slabs = most_purged = 0;
	while (step(budget))
		CHECK(n++ < 100000);
	return n;
}

/* After a round of steps ash_trim(0) finds nothing, in whatever kind of memory; and it was there before. */
static void as_trim(size_t budget, size_t least)
{
	size_t before = rt_anonymous(), left, n;

	n = round_of(budget);
	left = rt_anonymous();
	rt_print("     %zu KiB given back by %zu steps; one made %zu calls, looked at %zu slabs, purged %zu KiB at most\n",
		 (before - left) / KIB, n, most_calls, most_slabs, most_purged / KIB);
	CHECK_EQ(ash_check(), 0);
	if (!figures())
		return;
	CHECK(before - left >= least);
	n = stats_now().reserved;
	CHECK_EQ(ash_trim(0), 0);
	CHECK_EQ(stats_now().reserved, n); /* regions that are free are unmapped */
	CHECK(left <= rt_anonymous() + 64 * KIB); /* stacks, counters */
}

enum { FEW = 6000 };
static unsigned char *block[FEW];

/* Allocates blocks of these bytes in all and releases all but one in `every`; returns their number. */
static size_t leave(size_t size, size_t bytes, size_t every)
{
	size_t n = bytes / size, i;

	CHECK(n <= FEW);
	for (i = 0; i < n; i++) {
		block[i] = NOT_NULL(ash_alloc(size));
		memset(block[i], 1, size);
	}
	for (i = 0; i < n; i++)
		if (i % every != 0)
			ash_release(block[i]);
	return n;
}

/* Free memory inside slabs stays until a step takes it, because a GiB may be retained. */
static void holes_stay(void)
{
	static struct ash_defaults options;

	options = ash_defaults;
	options.retain = (size_t)1 << 30;
	heap_default.options = &options;
}

TEST(trim_step_own_slabs, 30)
{
	static const size_t sizes[] = {2000, 5000, 20000, 50000, 300000};

	needs_small_pages();
	holes_stay();
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		(void)leave(sizes[i], 8 * MIB, 40);
		as_trim(1, 4 * MIB);
		CHECK(most_calls <= MOST_CALLS && most_slabs <= MOST_SLABS);
	}
	CHECK_EQ(stats_now().dirty, 0);
}

TEST(trim_step_spans, 30)
{
	void *span[4];
	size_t reserved;

	needs_small_pages();
	for (unsigned i = 0; i < 4; i++)
		span[i] = filled(2 * MIB);
	(void)ash_alloc(100);
	reserved = stats_now().reserved;
	CHECK_EQ(round_of(2 * CHUNK_SIZE), 1); /* its chunk costs 2 MiB, others 16 KiB each */
	CHECK_EQ(round_of(16 * KIB), round_of(1));
	CHECK_EQ(stats_now().reserved, reserved); /* regions go as a whole */
	release_each(span, 4);
	as_trim(1, MIB); /* some was purged by the releases */
	CHECK_EQ(stats_now().dirty, 0);
}

/* Slabs without an owner, like those of handlers. */
TEST(trim_step_unowned, 30)
{
	needs_small_pages();
	ash_release(ash_alloc(100));
	seat_close();
	(void)leave(20000, 8 * MIB, SIZE_MAX);
	ash_release(block[0]);
	seat_open();
	as_trim(1, 256 * KIB);
	CHECK_EQ(stats_now().slabs, 0);
}

/* Threads that sleep, ended, or ended without ash_thread_detach. */
static struct rt_barrier asleep = {.count = 2};

static void half_empty(UNUSED void *argument)
{
	(void)leave(2000, 8 * MIB, 40);
}

static void half_empty_and_sleep(void *argument)
{
	half_empty(argument);
	rt_barrier_wait(&asleep);
	rt_barrier_wait(&asleep);
}

/* Slabs that are current, with a block each, so that no other thread may purge them. */
static void leave_current(UNUSED void *argument)
{
	for (size_t size = 2000; size < 9000; size += 1000) {
		alloc_each((void **)block, 3, size);
		for (unsigned i = 0; i < 3; i++)
			memset(block[i], 1, size);
		release_each(block + 1, 2);
	}
}

/* Ends past the runtime's ash_thread_detach, with empty slabs that it caches. */
static void end_with_spares(UNUSED void *argument)
{
	(void)leave(2000, MIB, SIZE_MAX);
	ash_release(block[0]);
	(void)arch_exit(0);
}

TEST(trim_step_threads, 30)
{
	struct rt_thread *sleeper;

	needs_small_pages();
	holes_stay();
	ash_release(ash_alloc(100));
	rt_in_thread(half_empty, NULL);
	as_trim(1, 6 * MIB);
	CHECK(most_slabs <= MOST_SLABS && most_calls <= MOST_CALLS);
	sleeper = NOT_NULL(rt_thread_start(half_empty_and_sleep, NULL));
	rt_barrier_wait(&asleep);
	as_trim(1, 5 * MIB);
	CHECK(most_slabs <= MOST_SLABS && most_calls <= MOST_CALLS);
	rt_barrier_wait(&asleep);
	rt_thread_join(sleeper);
	rt_in_thread(leave_current, NULL);
	as_trim(1, 64 * KIB);
}

TEST(trim_step_ended_thread, 30)
{
	ash_release(ash_alloc(100));
	rt_in_thread(end_with_spares, NULL);
	(void)round_of(1); /* its thread-local storage is unmapped */
	CHECK_EQ(stats_now().slabs, 0);
	CHECK_EQ(ash_check(), 0);
}

/* The worst case: every other page of the heap is free. */
TEST(trim_step_bound, 30)
{
	enum { PAGES = 4096 };

	needs_small_pages();
	needs_pages_of_4k();
	holes_stay();
	(void)leave(4096, PAGES * (size_t)4096, 2);
	as_trim(1, PAGES / 2 * (size_t)4096 - MIB);
	CHECK(most_calls > 128 && most_calls <= 260);
	CHECK(most_slabs >= 8 && most_slabs <= MOST_SLABS);
	CHECK(most_purged <= CHUNK_SIZE);
}

/* A budget of several parts is spent in one step, and not more. */
TEST(trim_step_budget, 30)
{
	size_t n, more;

	needs_small_pages();
	(void)leave(30000, 16 * MIB, SIZE_MAX);
	n = round_of(1);
	CHECK(n >= 8);
	(void)leave(30000, 16 * MIB, SIZE_MAX);
	CHECK_EQ(round_of(SIZE_MAX), 1);
	CHECK(!figures() || ash_trim(0) == 0);
	(void)leave(4000, 16 * MIB, 2);
	n = round_of(1);
	more = round_of(4 * MIB);
	rt_print("     %zu steps of one part, %zu of 4 MiB\n", n, more);
	CHECK(more < n && more >= 3);
	CHECK(most_slabs <= 3 * MOST_SLABS);
}

static void *emptied[256];

static void release_emptied(UNUSED void *argument)
{
	release_each(emptied, 256);
}

/* The caller's slabs, of which it has not heard yet that they are empty. */
TEST(trim_step_emptied_by_others, 30)
{
	alloc_each(emptied, 256, 2000);
	rt_in_thread(release_emptied, NULL);
	CHECK(stats_now().pending != 0);
	(void)round_of(1);
	CHECK_EQ(stats_now().slabs, 0);
}

/* Memory that is due goes first, 8 MiB in a step; no slab is returned until then, because each would purge 8 MiB. */
TEST(trim_step_while_due, 30)
{
	size_t n;

	needs_small_pages();
	heap_default.floor = 1 << 20; /* all that is released stays */
	n = leave(16 << 10, 90 * MIB, 1);
	alloc_each(emptied, 256, 16 << 10); /* above them */
	release_each(block, n);
	rt_in_thread(release_emptied, NULL);
	CHECK(heap_default.dirty > 1024);
	do
		CHECK(step(1));
	while (slabs == 0); /* the next chunk is full of them */
	heap_default.floor = heap_default.due = 0;
	heap_default.due_at = 1;
	most_purged = 0;
	CHECK(step(1));
	CHECK(most_purged >= 4 * MIB && most_purged <= 10 * MIB + CHUNK_SIZE);
	while (heap_default.due_at != 0)
		CHECK(step(12 * MIB)); /* two parts */
	CHECK(most_purged > 10 * MIB + CHUNK_SIZE && most_purged <= 20 * MIB + CHUNK_SIZE);
	n = round_of(1);
	rt_print("     %zu steps; one purged %zu KiB at most\n", n, most_purged / KIB);
	CHECK(most_slabs <= MOST_SLABS && most_calls <= MOST_CALLS);
	CHECK_EQ(heap_default.dirty, 0);
	CHECK_EQ(ash_check(), 0);
}

/* An empty heap, a handler in a call, a child of fork. */
TEST(trim_step_anywhere, 30)
{
	struct rt_thread *sleeper;
	struct slab *slab;

	CHECK_EQ(ash_trim_step(0), 0);
	(void)leave(2000, 8 * MIB, 40);
	slab = map_guess_slab(block[0]);
	slab->owner = 0; /* as if it were unmade since it was found */
	(void)round_of(1);
	slab->owner = (uint64_t)(uintptr_t)seat.self;
	region_room(slab->chunk->region)[slab->chunk->index] = 0; /* as a thread leaves it that ends in a call */
	(void)round_of(1);
	CHECK_EQ(region_room(slab->chunk->region)[slab->chunk->index], bits_longest(slab->chunk->units));
	seat_close(); /* as in a call */
	(void)round_of(1);
	heap_default.refused = 1; /* it may be tried again */
	(void)round_of(1);
	seat_open();
	CHECK_EQ(ash_check() | (int)heap_default.refused, 0);
	sleeper = NOT_NULL(rt_thread_start(half_empty_and_sleep, NULL));
	rt_barrier_wait(&asleep);
	IN_CHILD {
		needs_small_pages();
		as_trim(1, 0); /* the sleeper's memory is nobody's here */
	}
	rt_barrier_wait(&asleep);
	rt_thread_join(sleeper);
}

/* Rounds end while other threads work, and step too. */
static _Atomic unsigned working = 3;

static void works(void *seed)
{
	void *live[200] = {NULL};
	struct rt_random random;
	size_t at;

	rt_seed(&random, (uint64_t)(uintptr_t)seed);
	for (unsigned i = 0; i < 20000; i++) {
		at = rt_below(&random, 200);
		ash_release(live[at]);
		live[at] = filled((size_t)8 << rt_below(&random, 19));
		if (at == 0)
			(void)ash_trim_step(MIB);
	}
	release_each(live, 200);
	working--;
}

TEST(trim_step_beside, 60)
{
	struct rt_thread *t[3];
	size_t rounds = 0;

	for (uintptr_t i = 0; i < 3; i++)
		t[i] = NOT_NULL(rt_thread_start(works, (void *)(i + 1)));
	for (; working != 0; rounds++)
		for (size_t n = 0; ash_trim_step(1) != 0; n++)
			CHECK(n < 100000);
	rt_threads_join(t, 3);
	rt_print("     %zu rounds ended meanwhile\n", rounds);
	CHECK(rounds > 1);
	nothing_is_left();
}
