/* SPDX-License-Identifier: MIT */
/*
 * The memory of a peak goes back to the system while it is released, and two periods later at most `retain`
 * stays.  Peaks that come again: keep_again.c.  Memory that ash_trim leaves: trim.c.
 */
/* promises: ash_release, ash_resize */
#include "support/another.h"
#include "support/blocks.h"
#include "support/resident.h"

static size_t retained(void)
{
	return stats_now().dirty;
}

static void small_pairs(size_t n)
{
	for (size_t i = 0; i < n; i++)
		ash_release(ash_alloc(100));
}

/* Takes blocks of this size until they have these bytes, and releases them; does so `times` times. */
static void peak_of(size_t bytes, size_t size, int times)
{
	size_t count = bytes / size, i;
	unsigned char **p = NOT_NULL(rt_map((count + 1) * sizeof(*p)));

	for (; times > 0; times--) {
		for (i = 0; i < count; i++)
			p[i] = filled(size);
		release_each(p, count);
	}
	rt_unmap(p, (count + 1) * sizeof(*p));
}

/* ---- a first peak ---- */

/* The limit of resident memory includes the records of the chunks, which never go. */
static void goes_at_once(size_t size)
{
	size_t base;

	needs_small_pages();
	small_pairs(1);
	base = rt_anonymous();
	peak_of(scaled(100 * MIB, 24 * MIB), size, 1);
	rt_print("     %zu-byte blocks: %zu KiB retained\n", size, retained() / KIB);
	CHECK(retained() <= ash_defaults.retain / 2);
	CHECK(!figures() || rt_anonymous() <= base + 32 * MIB);
	small_pairs(1000);
	CHECK(!figures() || rt_anonymous() <= base + 8 * MIB);
	CHECK_EQ(ash_check(), 0);
}

TEST_CALL(keep_no_peak_of_64, 20, goes_at_once(64));
TEST_CALL(keep_no_peak_of_1000, 20, goes_at_once(1000));
TEST_CALL(keep_no_peak_of_100000, 20, goes_at_once(100000));
TEST_CALL(keep_no_peak_of_900000, 20, goes_at_once(900000));
TEST_CALL(keep_no_peak_of_5000000, 20, goes_at_once(5000000));

/* A peak beside much memory in use: a quarter of that may stay. */
TEST(keep_a_quarter_beside_live_blocks, 20)
{
	size_t bytes = scaled(60 * MIB, 16 * MIB), count = bytes / 100000;
	void **live = NOT_NULL(rt_map(count * sizeof(*live)));

	alloc_each(live, count, 100000);
	peak_of(scaled(100 * MIB, 24 * MIB), 5000000, 1);
	CHECK(retained() <= bytes / 4 + 4 * MIB);
	release_each(live, count);
	CHECK(retained() <= ash_defaults.retain / 2);
}

/* ---- after a peak that came again, by operations that would all be fast ---- */

enum { OPERATIONS = 100000 };

/* Peaks of small blocks and of large ones, each followed by this work. */
static void follow(void (*work)(void))
{
	static const size_t peaks[] = {1, 12, 48, 256}; /* MiB */
	size_t base, i, mib;

	work();
	(void)ash_trim(0);
	base = rt_anonymous();
	for (i = 0; i < 2 * sizeof peaks / sizeof *peaks; i++) {
		mib = peaks[i / 2];
		if (rt_under_qemu() && mib > 48)
			continue;
		peak_of(mib * MIB, i % 2 == 0 ? 1000 : mib * MIB / 4 - 5000, 3);
		CHECK(retained() + 2 * MIB >= mib * MIB);
		work();
		rt_print("     %zu MiB: %zu KiB kept\n", mib, retained() / KIB);
		CHECK(retained() <= ash_defaults.retain);
		/* The records of slabs, up to a 30th of the peak, stay. */
		CHECK(!figures() || rt_anonymous() < base + ash_defaults.retain / 2 + 2 * MIB + mib * MIB / 30);
	}
	CHECK_EQ(ash_check(), 0);
}

/* Two classes in turn, so that the bin that was slow is not the next that is used. */
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

TEST_CALL(keep_after_pairs_of_two, 30, follow(pairs_of_two));
TEST_CALL(keep_after_batches, 30, follow(batches));
TEST_CALL(keep_after_replacement, 30, follow(replacement));
TEST_CALL(keep_after_resizes, 30, follow(resizes));

/* Another thread has the peak and then sleeps. */
DOES(have_peak, peak_of(32 * MIB, 1000, 3));

TEST(keep_after_peak_of_another, 30)
{
	pairs_of_two();
	another_stays(have_peak);
	replacement();
	CHECK(retained() <= ash_defaults.retain);
	another_goes();
}

/* The last large block gets small where it stands. */
TEST(keep_after_shrink, 30)
{
	unsigned char *p;

	pairs_of_two();
	p = filled(64 * MIB);
	p = NOT_NULL(ash_resize(p, 2 * MIB));
	small_pairs(OPERATIONS);
	CHECK(retained() <= ash_defaults.retain);
}

/* ---- never on top of a peak ---- */

enum ladder { BEFORE, AFTER, RESIZED, PIECES };

/* Each step releases the block before: the peak is the live memory and 8 MiB, and in the end no step is kept. */
static void ladder(enum ladder kind)
{
	enum { PIECES_MAX = 4000 };
	static unsigned char *piece[PIECES_MAX];
	size_t most = scaled(300 * MIB, 8 * MIB), size, n = 0, base, live, before = 0;
	unsigned char *p = NULL, *q;

	base = rt_resident(); /* as the peak: with pages of files */
	for (size = MIB; size < most; before = size, size += size / 4) {
		rt_resident_peak_reset();
		switch (kind) {
		case BEFORE:
			ash_release(p);
			p = filled(size);
			break;
		case AFTER:
			q = filled(size);
			ash_release(p);
			p = q;
			break;
		case RESIZED:
			p = NOT_NULL(ash_resize(p, size));
			touch(p, size);
			break;
		case PIECES:
			while (n > 0)
				ash_release(piece[--n]);
			while (n * 100 * KIB < size)
				piece[n++] = filled(100 * KIB);
		}
		live = kind == AFTER ? size + before : size;
		if (figures())
			CHECK(rt_resident_peak() <= base + live + live / 10 * 3 + 8 * MIB + rt_resident_slack());
	}
	CHECK(kind == PIECES || retained() <= before / 4 + ash_defaults.retain);
	ash_release(p);
	release_each(piece, n);
	rt_print("     %zu KiB retained\n", retained() / KIB);
	CHECK(kind == PIECES || retained() <= 2 * ash_defaults.retain);
	CHECK_EQ(ash_check(), 0);
}

TEST_CALL(keep_ladder_released_before, 20, ladder(BEFORE));
TEST_CALL(keep_ladder_released_after, 20, ladder(AFTER));
TEST_CALL(keep_ladder_resized, 20, ladder(RESIZED));
TEST_CALL(keep_ladder_of_pieces, 20, ladder(PIECES));
