/* SPDX-License-Identifier: MIT */
/* The memory that threads cost which pass blocks on, or end. */
/* promises: ash_release */
#include "support/blocks.h"
#include "support/resident.h"
#include "support/stamp.h"

#include <stdatomic.h>

enum { MiB = 1 << 20 };

/* Bytes of the heap that are in use or may be backed: a figure that an emulator cannot blur. */
static size_t heap_bytes(void)
{
	struct ash_statistics st;

	ash_stats(&st);
	return st.slabs + st.spans + st.dirty;
}

static size_t heap_reserved(void)
{
	return stats_now().reserved;
}

/* RSS is a figure of the emulator under QEMU; there the heap's own figures must do. */
static size_t resident(void)
{
	return rt_under_qemu() ? 0 : rt_anonymous();
}

/* ---- a ring of threads: each releases the blocks that its predecessor allocated ---- */

enum { BATCH = 256, SIZE = 64, LINKS_MAX = 4, DEPTH = 8 };

struct link { /* from one thread to the next */
	uint64_t batch[DEPTH][BATCH];
	_Atomic size_t written, read; /* batches so far */
};

static struct link links[LINKS_MAX];
static size_t links_used, rounds, most_slabs;

static void wait_for(const _Atomic size_t *counter, size_t value)
{
	for (unsigned i = 0; atomic_load(counter) < value; i++)
		if (i >= 200)
			rt_sleep(1000);
}

static void ring_body(void *argument)
{
	size_t self = *(const size_t *)argument;
	struct link *out = &links[self], *in = &links[(self + 1) % links_used];

	for (size_t n = 0; n < rounds; n++) {
		uint64_t *batch = out->batch[n % DEPTH];

		if (n >= DEPTH)
			wait_for(&out->read, n - DEPTH + 1);
		for (size_t i = 0; i < BATCH; i++) {
			void *p = NOT_NULL(ash_alloc(SIZE));

			batch[i] = stamp_set(p, SIZE, n + i);
		}
		atomic_store(&out->written, n + 1);
		if (self == 0 && n % 16 == 0) {

			if (most_slabs < stats_now().slabs)
				most_slabs = stats_now().slabs;
		}
		/*
		 * Half the ring's depth behind, so that the batches are on their way for a while.
		 */
		if (n < DEPTH / 2)
			continue;
		wait_for(&in->written, n - DEPTH / 2 + 1);
		batch = in->batch[(n - DEPTH / 2) % DEPTH];
		for (size_t i = 0; i < BATCH; i++)
			stamp_release(batch[i]);
		atomic_store(&in->read, n - DEPTH / 2 + 1);
	}
	for (size_t n = rounds - DEPTH / 2; n < rounds; n++) {
		wait_for(&in->written, n + 1);
		for (size_t i = 0; i < BATCH; i++)
			stamp_release(in->batch[n % DEPTH][i]);
		atomic_store(&in->read, n + 1);
	}
}

/* The peak after a short run is the measure for that after a long one. */
static void ring_run(size_t threads, size_t n)
{
	static const size_t numbers[LINKS_MAX] = {0, 1, 2, 3};
	struct rt_thread *t[LINKS_MAX];

	rounds = n;
	links_used = threads;
	for (size_t i = 0; i < threads; i++) {
		atomic_store(&links[i].written, 0);
		atomic_store(&links[i].read, 0);
	}
	for (size_t i = 0; i < threads; i++)
		t[i] = rt_thread_start(ring_body, (void *)(uintptr_t)&numbers[i]);
	rt_threads_join(t, threads);
}

static void ring_stays_small(size_t threads)
{
	size_t peak, total = rt_in_full() ? 500000 : rt_under_qemu() ? 4000 : 30000;

	ring_run(threads, 100);
	rt_resident_peak_reset();
	peak = rt_resident_peak();
	ring_run(threads, total);
	if (!rt_under_qemu())
		CHECK(rt_resident_peak() <= peak + 2 * MiB + rt_resident_slack());
	/* On their way are at most DEPTH batches a thread: 128 KiB. */
	CHECK(most_slabs > 0 && most_slabs <= threads * MiB / 2);
	/* Threads that find nothing at the same time grow the heap each. */
	CHECK(heap_reserved() <= 4 * threads * MiB);
	stamp_check_nothing_left();
}

TEST_CALL(threads_ring_of_two_does_not_grow, 120, ring_stays_small(2));
TEST_CALL(threads_ring_of_four_does_not_grow, 120, ring_stays_small(4));

/* ---- threads that end: one block of each survives ---- */

enum { ENDS = 2000, WAVE = 8, BLOCKS = 200 };

static uint64_t survivors[ENDS];

static void survivor_body(void *argument)
{
	uint64_t *survivor = argument, blocks[BLOCKS];
	struct rt_random random;
	size_t kept;

	rt_seed(&random, rt_test_seed() + (uintptr_t)survivor);
	for (size_t i = 0; i < BLOCKS; i++) {
		size_t size = stamp_random_size(&random, false);

		blocks[i] = stamp_set(ash_alloc(size), size, i);
	}
	kept = rt_below(&random, BLOCKS);
	for (size_t i = 0; i < BLOCKS; i++)
		if (i != kept)
			stamp_release(blocks[i]);
	*survivor = blocks[kept];
}

/* In a thread of its own: the calling one would get a record, with the slabs left behind. */
static void trim_body(UNUSED void *argument)
{
	ash_trim(0);
}

static void survivors_stay_cheap(size_t wave)
{
	size_t ends = rt_under_qemu() ? ENDS / 5 : ENDS, live = 0, before = resident();
	struct rt_thread *threads[WAVE];
	struct ash_statistics st;

	needs_small_pages();
	for (size_t i = 0; i < ends; i += wave) {
		for (size_t k = 0; k < wave; k++)
			threads[k] = rt_thread_start(survivor_body, &survivors[i + k]);
		rt_threads_join(threads, wave);
	}
	ash_stats(&st);
	CHECK_EQ(st.blocks, ends);
	CHECK(st.owners <= wave + 1);
	live = st.block_bytes;
	rt_in_thread(trim_body, NULL);
	/* Each record may keep a slab of each size that is not full. */
	CHECK(resident() <= before + 2 * live + wave * MiB);
	for (size_t i = 0; i < ends; i++)
		stamp_release(survivors[i]);
	/* Their threads are gone, so it was the releasing thread that emptied their slabs. */
	stamp_check_nothing_left();
	ash_stats(&st);
	CHECK_EQ(st.pending, 0);
	CHECK_EQ(st.slabs, 0);
	rt_in_thread(trim_body, NULL);
	CHECK(resident() <= before + MiB);
	CHECK_EQ(heap_bytes(), 0);
}

TEST_CALL(threads_end_one_by_one_leave_one_block, 60, survivors_stay_cheap(1));
TEST_CALL(threads_end_in_waves_leave_one_block, 60, survivors_stay_cheap(WAVE));

/* ---- memory that a thread leaves is used again ---- */

static uint64_t inheritance[BLOCKS];

/* Releases half of the blocks that the thread before left, and leaves an equal number. */
static void heir_body(void *seed)
{
	struct rt_random random;

	rt_seed(&random, *(const uint64_t *)seed);
	for (size_t i = 0; i < BLOCKS; i++) {
		if (inheritance[i] != 0 && rt_below(&random, 2))
			continue;
		if (inheritance[i] != 0)
			stamp_release(inheritance[i]);
		inheritance[i] = stamp_alloc(&random, false);
	}
}

/* More than all heirs ever need: whether a late one is the first to need the next region is chance. */
static void peak_body(UNUSED void *argument)
{
	static void *p[6 * MiB / 4000];

	alloc_each(p, sizeof p / sizeof *p, 4000);
	release_each(p, sizeof p / sizeof *p);
}

TEST(threads_short_ones_inherit, 60)
{
	size_t n = rt_under_qemu() ? 1000 : 10000, warm = rt_under_qemu() ? 500 : 1000, reserved = 0;
	size_t space = 0;

	rt_in_thread(peak_body, NULL);
	for (uint64_t i = 0; i < n; i++) {
		uint64_t seed = rt_test_seed() + i;

		rt_in_thread(heir_body, &seed);
		if (i == warm)
			reserved = heap_reserved(), space = rt_address_space();
	}
	CHECK(heap_reserved() <= reserved + 2 * MiB);
	if (!rt_under_qemu())
		CHECK(rt_address_space() <= space + 4 * MiB);
	CHECK(stats_now().owners <= 1);
	for (size_t i = 0; i < BLOCKS; i++)
		stamp_release(inheritance[i]);
	stamp_check_nothing_left();
}

enum { ESTATE = 16 * MiB, PIECE = 1024, PIECES = ESTATE / PIECE };

static uint64_t estate[PIECES];

static void leave_body(UNUSED void *argument)
{
	for (size_t i = 0; i < PIECES; i++)
		estate[i] = stamp_set(ash_alloc(PIECE), PIECE, i);
	/* No slab gets empty and goes back: slabs can only be adopted. */
	for (size_t i = 0; i < PIECES; i++)
		if (i % 16 != 0) {
			stamp_release(estate[i]);
			estate[i] = 0;
		}
}

TEST(threads_slabs_are_adopted, 20)
{
	uint64_t own = stamp_set(ash_alloc(PIECE), PIECE, 0); /* main has its record already */
	struct ash_statistics before, st;

	rt_in_thread(leave_body, NULL);
	ash_stats(&before);
	for (size_t i = 0; i < PIECES; i++)
		if (estate[i] == 0)
			estate[i] = stamp_set(ash_alloc(PIECE), PIECE, i);
	ash_stats(&st);
	CHECK_EQ(st.blocks, PIECES + 1);
	/* Free memory in the last chunk is used before. */
	CHECK(st.slabs <= before.slabs + 2 * MiB);
	for (size_t i = 0; i < PIECES; i++)
		stamp_release(estate[i]);
	stamp_release(own);
	stamp_check_nothing_left();
}
