/* SPDX-License-Identifier: MIT */
/* Giving back: what is kept, and for how long.  What ash_trim leaves: api/trim.c. */
/* promises: ash_release */
#include "support/blocks.h"
#include "support/resident.h"

/* The fast path and nothing else: the same block again and again. */
static void tight_work(size_t operations)
{
	for (size_t i = 0; i < operations; i += 2) {
		unsigned char *p = NOT_NULL(ash_alloc(100));

		p[0] = 1;
		ash_release(p);
	}
}

/* ---- kept for those who come back ---- */

static void comes_back(size_t bytes)
{
	unsigned long before;

	for (int i = 0; i < 3; i++) {
		ash_release(filled(bytes));
		tight_work(10); /* has a slab, and a region, of its own from now on */
	}
	before = rt_faults();
	for (int i = 0; i < 20; i++) {
		unsigned char *p = filled(bytes);

		tight_work(100);
		ash_release(p);
		tight_work(100);
	}
	if (figures())
		CHECK(rt_faults() - before < 50);
}

TEST_CALL(keep_8_mib, 20, comes_back(8 * MIB));
TEST_CALL(keep_large, 20, comes_back(scaled(200 * MIB, 24 * MIB)));

/* Several at a time, of several sizes. */
TEST(keep_several, 20)
{
	static const size_t mib[] = {20, 3, 50, 7, 33, 12};
	unsigned char *p[6];
	unsigned long before = 0;

	for (int round = 0; round < 8; round++) {
		if (round == 4)
			before = rt_faults();
		for (int i = 0; i < 6; i++)
			p[i] = filled(mib[i] * MIB / scaled(1, 8));
		release_each(p, 6);
	}
	if (figures())
		CHECK(rt_faults() - before < 1000);
}

/* ---- and gone when no thread does; after other work: keep_after.c ---- */

/* A peak below `retain` that came again is given back by slow operations, although owners do not watch. */
TEST(keep_small_peak_goes, 30)
{
	enum { LIVE = 2000, PEAK = 10000 };
	static void *live[LIVE], *peak[PEAK];
	struct ash_statistics st;
	struct rt_random random;

	rt_seed(&random, 2);
	for (size_t mib = 4; mib <= 8; mib += 4) {
		size_t bytes, n, turns = 0;

		for (n = 0; n < LIVE; n++)
			live[n] = ash_alloc(16 + rt_below(&random, 2000));
		for (int round = 0; round < 3; round++) {
			for (bytes = n = 0; n < PEAK && bytes < mib * MIB; n++) {
				size_t size = 16 + rt_below(&random, 2000);

				peak[n] = ash_alloc(size);
				touch(peak[n], size);
				bytes += size;
			}
			while (n-- > 0)
				ash_release(peak[n]);
		}
		CHECK(stats_now().dirty > mib * MIB / 2);
		for (; st.dirty > 3 * MIB / 2; ash_stats(&st)) {
			CHECK(turns++ < 2000); /* of 1000: some 600 are needed */
			for (n = 0; n < 1000; n++) {
				size_t at = rt_below(&random, LIVE);

				ash_release(live[at]);
				live[at] = ash_alloc(16 + rt_below(&random, 2000));
			}
		}
		release_each(live, LIVE);
	}
	CHECK_EQ(ash_check(), 0);
}

/* While the peak goes, a loop of 8 MiB blocks keeps its pages. */
TEST(keep_loop_beside_peak, 30)
{
	unsigned long before;

	ash_release(filled(scaled(512 * MIB, 24 * MIB)));
	before = rt_faults();
	for (int i = 0; i < 4000; i++) {
		unsigned char *p = filled(8 * MIB / scaled(1, 8));

		tight_work(50);
		ash_release(p);
	}
	if (figures()) {
		CHECK(rt_faults() - before < 4 * 8 * MIB / PAGE);
		CHECK(rt_anonymous() <= 64 * MIB);
	}
}

/* ---- never on top of a peak ---- */

enum ladder { BEFORE, AFTER, RESIZED, PIECES, LADDERS };

/* Each step releases the one before: the peak is what lives at a time and 8 MiB. */
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
		default:
			while (n > 0)
				ash_release(piece[--n]);
			while (n * 100 * KIB < size)
				piece[n++] = filled(100 * KIB);
		}
		live = kind == AFTER ? size + before : size;
		if (figures() && rt_resident_peak() > base + live + live / 10 * 3 + 8 * MIB + rt_resident_slack()) {
			rt_print("     at %zu KiB: peak %zu KiB\n", size / KIB,
				 (rt_resident_peak() - base) / KIB);
			CHECK(kind == LADDERS);
		}
	}
	CHECK_EQ(ash_check(), 0);
}

#define LADDER(name, ...) TEST(name, 20) { ladder(__VA_ARGS__); }
LADDER(keep_ladder_released_before, BEFORE)
LADDER(keep_ladder_released_after, AFTER)
LADDER(keep_ladder_resized, RESIZED)
LADDER(keep_ladder_of_pieces, PIECES)
