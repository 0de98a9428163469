/* SPDX-License-Identifier: MIT */
/*
 * Whatever a program does after a peak that came again, two periods later at most `retain` is kept.
 * Each kind of work is of operations that would all be fast.
 */
/* promises: ash_release, ash_resize */
#include "support/another.h"
#include "support/blocks.h"
#include "support/resident.h"

static const size_t peaks[] = {1, 12, 32, 48, 64, 256}; /* MiB */
enum { PEAKS = sizeof peaks / sizeof *peaks, OPERATIONS = 100000 };

static size_t retained(void)
{
	return ash_defaults.retain;
}

static void peak_of(size_t bytes, size_t size)
{
	size_t count = bytes / size, i;
	unsigned char **p = rt_map((count + 1) * sizeof(*p));

	CHECK(p != NULL);
	for (int round = 0; round < 3; round++) { /* it comes again, so that it stays at first */
		for (i = 0; i < count; i++)
			p[i] = filled(size);
		release_each(p, count);
	}
	rt_unmap(p, (count + 1) * sizeof(*p));
	CHECK(stats_now().dirty + 2 * MIB >= bytes);
}

/* Peaks of small blocks and of large ones, each followed by this work. */
static void follow(void (*work)(void))
{
	size_t base, i;

	work();
	(void)ash_trim(0);
	base = rt_anonymous();
	for (i = 0; i < 2 * PEAKS; i++) {
		size_t mib = peaks[i / 2];
		struct ash_statistics st;

		if (rt_under_qemu() && mib > 48)
			continue;
		peak_of(mib * MIB, i % 2 == 0 ? 1000 : mib * MIB / 4 - 5000);
		work();
		ash_stats(&st);
		rt_print("     %zu MiB: %zu KiB kept\n", mib, st.dirty / KIB);
		CHECK(st.dirty <= retained());
		/* The records of slabs, up to a 30th of what they were for, stay. */
		if (figures())
			CHECK(rt_anonymous() < base + retained() / 2 + 2 * MIB + mib * MIB / 30);
	}
	CHECK_EQ(ash_check(), 0);
}

/* The same slot, again and again. */
static void pairs(void)
{
	for (int i = 0; i < OPERATIONS; i++)
		ash_release(ash_alloc(100));
}

/* Two classes in turn, so that it is not the bin that was slow which is used next. */
static void pairs_of_two(void)
{
	for (int i = 0; i < OPERATIONS; i++)
		ash_release(ash_alloc((i & 1) != 0 ? 100 : 700));
}

static void batches(void)
{
	static void *p[100];

	for (int i = 0; i < OPERATIONS / 4; i++) {
		alloc_each(p, 100, 64);
		release_each(p, 100);
	}
}

static void replacement(void)
{
	enum { LIVE = 512 };
	static void *p[LIVE];
	struct rt_random random;

	rt_seed(&random, 1);
	for (int i = 0; i < OPERATIONS; i++) {
		size_t at = rt_below(&random, LIVE);

		ash_release(p[at]);
		p[at] = ash_alloc(16 + rt_below(&random, 1024));
	}
}

static void resizes(void)
{
	void *p = ash_alloc(100);

	for (int i = 0; i < OPERATIONS; i++)
		p = ash_resize(p, (i & 1) != 0 ? 100 : 300);
	ash_release(p);
}

#define FOLLOW(name, ...) TEST(name, 30) { follow(__VA_ARGS__); }
FOLLOW(keep_after_pairs, pairs)
FOLLOW(keep_after_pairs_of_two, pairs_of_two)
FOLLOW(keep_after_batches, batches)
FOLLOW(keep_after_replacement, replacement)
FOLLOW(keep_after_resizes, resizes)

/* Another thread has the peak and then sleeps. */
DOES(have_peak, peak_of(32 * MIB, 1000));

TEST(keep_after_peak_of_another, 30)
{
	struct ash_statistics st;

	pairs_of_two();
	another_stays(have_peak);
	replacement();
	ash_stats(&st);
	another_goes();
	rt_print("     %zu KiB kept\n", st.dirty / KIB);
	CHECK(st.dirty <= retained());
}

/* The last large block gets small where it stands. */
TEST(keep_after_shrink, 30)
{
	struct ash_statistics st;
	unsigned char *p;

	pairs_of_two();
	p = filled(64 * MIB);
	p = NOT_NULL(ash_resize(p, 2 * MIB));
	pairs();
	ash_stats(&st);
	rt_print("     %zu KiB kept\n", st.dirty / KIB);
	CHECK(st.dirty <= retained());
}
