/* SPDX-License-Identifier: MIT */
/* Giving back: what is kept, for how long, and what ash_trim leaves. */
#include "ashlar.h"
#include "rt.h"

#define KIB  ((size_t)1 << 10)
#define MIB  ((size_t)1 << 20)
#define PAGE ((size_t)4096)

/* Under QEMU resident memory is the emulator's: the code runs, the figures are not looked at. */
static bool figures(void)
{
	return !rt_under_qemu();
}

static size_t scaled(size_t natively, size_t under_qemu)
{
	return rt_under_qemu() ? under_qemu : natively;
}

static void touch(unsigned char *p, size_t bytes)
{
	for (size_t i = 0; i < bytes; i += PAGE)
		p[i] = 1;
}

static unsigned char *filled(size_t bytes)
{
	unsigned char *p = ash_alloc(bytes);

	CHECK(p != NULL);
	touch(p, bytes);
	return p;
}

/* So many allocations and releases of small blocks. */
static void small_work(size_t operations)
{
	static void *block[100];
	struct rt_random random;

	rt_seed(&random, 1);
	for (size_t i = 0; i < operations; i++) {
		size_t at = rt_below(&random, 100);

		if (block[at] == NULL) {
			block[at] = ash_alloc(1 + rt_below(&random, 500));
			CHECK(block[at] != NULL);
		} else {
			ash_release(block[at]);
			block[at] = NULL;
		}
	}
	for (size_t i = 0; i < 100; i++) {
		ash_release(block[i]);
		block[i] = NULL;
	}
}

/* The fast path and nothing else: the same block again and again. */
static void tight_work(size_t operations)
{
	for (size_t i = 0; i < operations; i += 2) {
		unsigned char *p = ash_alloc(100);

		CHECK(p != NULL);
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

TEST(keep_8_mib, 20)
{
	comes_back(8 * MIB);
}

TEST(keep_large, 20)
{
	comes_back(scaled(200 * MIB, 24 * MIB));
}

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
		for (int i = 0; i < 6; i++)
			ash_release(p[i]);
	}
	if (figures())
		CHECK(rt_faults() - before < 1000);
}

/* ---- and gone when nobody does ---- */

enum peak { ONE_BLOCK, SPANS, SMALL, PEAKS };

static void peak(enum peak kind, size_t bytes)
{
	size_t size = kind == ONE_BLOCK ? bytes : kind == SPANS ? 3 * MIB + 5000 : 200;
	size_t count = bytes / size, i;
	unsigned char **p = rt_map((count + 1) * sizeof(*p));

	CHECK(p != NULL);
	for (i = 0; i < count; i++) {
		p[i] = ash_alloc(size);
		CHECK(p[i] != NULL);
		touch(p[i], size);
	}
	if (figures())
		CHECK(rt_resident() > bytes / 10 * 9);
	for (i = 0; i < count; i++)
		ash_release(p[i]);
	rt_unmap(p, (count + 1) * sizeof(*p));
}

static void peak_goes(void (*work)(size_t operations))
{
	for (enum peak kind = ONE_BLOCK; kind < PEAKS; kind++) {
		/* Less where each page is a fault of its own. */
		size_t bytes = scaled(kind == ONE_BLOCK ? 1024 * MIB : 200 * MIB, 24 * MIB);
		struct ash_stats st;

		peak(kind, bytes);
		work(100000);
		ash_stats(&st);
		CHECK(st.dirty <= 40 * MIB);
		if (figures())
			CHECK(rt_resident() <= 64 * MIB);
	}
	CHECK_EQ(ash_check(), 0);
}

TEST(keep_peak_goes_by_small_work, 60)
{
	peak_goes(small_work);
}

TEST(keep_peak_goes_by_tight_work, 60)
{
	peak_goes(tight_work);
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
		CHECK(rt_resident() <= 64 * MIB);
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

	base = rt_resident();
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
			p = ash_resize(p, size);
			CHECK(p != NULL);
			touch(p, size);
			break;
		default:
			while (n > 0)
				ash_release(piece[--n]);
			while (n * 100 * KIB < size)
				piece[n++] = filled(100 * KIB);
		}
		live = kind == AFTER ? size + before : size;
		if (figures() && rt_resident_peak() - base > live + live / 10 * 3 + 8 * MIB) {
			rt_print("     at %zu KiB: peak %zu KiB\n", size / KIB,
				 (rt_resident_peak() - base) / KIB);
			CHECK(kind == LADDERS);
		}
	}
	CHECK_EQ(ash_check(), 0);
}

TEST(keep_ladder_released_before, 20)
{
	ladder(BEFORE);
}

TEST(keep_ladder_released_after, 20)
{
	ladder(AFTER);
}

TEST(keep_ladder_resized, 20)
{
	ladder(RESIZED);
}

TEST(keep_ladder_of_pieces, 20)
{
	ladder(PIECES);
}

/* ---- trim ---- */

/* 256-byte blocks, of which one in 2 MiB stays; others must not have changed. */
static void hollow(size_t size, bool by_another)
{
	enum { MOST = 300000 };
	static unsigned char *p[MOST];
	size_t n = scaled(64 * MIB, 8 * MIB) / size, base = rt_resident(), i, left;
	size_t every = 2 * MIB / size;

	(void)by_another;
	CHECK(n <= MOST);
	for (i = 0; i < n; i++) {
		p[i] = ash_alloc(size);
		CHECK(p[i] != NULL);
		memset(p[i], (int)(i % 251), size);
	}
	for (i = 0; i < n; i++)
		if (i % every != every / 2)
			ash_release(p[i]);
	(void)ash_trim(0);
	left = rt_resident() > base ? rt_resident() - base : 0;
	if (figures()) {
		rt_print("     %zu-byte blocks: %zu KiB left\n", size, left / KIB);
		CHECK(left <= 5 * MIB);
	}
	for (i = every / 2; i < n; i += every)
		for (size_t k = 0; k < size; k++)
			CHECK_EQ(p[i][k], i % 251);
	CHECK_EQ(ash_check(), 0);
	/* Nothing is left to give back, and it says so. */
	if (figures())
		CHECK_EQ(ash_trim(0), 0);
	/* What was purged is usable, and zero where it is promised. */
	for (i = 0; i < n; i++)
		if (i % every != every / 2) {
			p[i] = ash_zalloc(1, size);
			for (size_t k = 0; k < size; k++)
				CHECK_EQ(p[i][k], 0);
			memset(p[i], (int)(i % 251), size);
		}
	for (i = 0; i < n; i++) {
		CHECK_EQ(p[i][size - 1], i % 251);
		ash_release(p[i]);
	}
	CHECK_EQ(ash_check(), 0);
}

TEST(trim_inside_slabs_256, 20)
{
	hollow(256, false);
}

TEST(trim_inside_slabs_other_sizes, 20)
{
	hollow(304, false);
	hollow(5000, false);
	hollow(1000, false);
	hollow(20000, false);
}

/* trim(keep) leaves that much, of whatever kind. */
TEST(trim_keeps, 20)
{
	enum { N = 20000 };
	static unsigned char *p[N];
	unsigned char *spans[4];
	size_t live, left;

	if (!figures())
		rt_skip("resident memory is the emulator's here");
	for (int i = 0; i < N; i++) {
		p[i] = ash_alloc(1000);
		memset(p[i], 1, 1000);
	}
	for (int i = 0; i < 4; i++)
		spans[i] = filled(3 * MIB);
	for (int i = 0; i < N; i++)
		if (i % 100 != 0)
			ash_release(p[i]);
	for (int i = 0; i < 4; i++)
		ash_release(spans[i]);
	for (size_t keep = 16 * MIB; keep > 0; keep /= 2) {
		if (keep < 64 * KIB)
			keep = 0;
		(void)ash_trim(keep);
		left = rt_resident();
		rt_print("     trim(%zu KiB): %zu KiB\n", keep / KIB, left / KIB);
		live = N / 100 * PAGE + 2 * MIB;
		CHECK(left <= live + keep);
		/* And not much less than may stay. */
		CHECK(left + 4 * MIB >= keep);
		if (keep == 0)
			break;
	}
	for (int i = 0; i < N; i += 100)
		CHECK(p[i][0] == 1 && p[i][999] == 1);
}

/* What a thread that ended has left half empty is given back, too. */
static void half_empty(void *list)
{
	unsigned char **p = list;

	for (size_t i = 0; i < 4000; i++) {
		p[i] = ash_alloc(1000);
		memset(p[i], 5, 1000);
	}
	for (size_t i = 0; i < 4000; i++)
		if (i % 40 != 0)
			ash_release(p[i]);
}

TEST(trim_slabs_of_ended_threads, 20)
{
	static unsigned char *p[4000];
	struct rt_thread *thread = rt_thread_start(half_empty, p);
	size_t before;

	rt_thread_join(thread);
	before = rt_resident();
	(void)ash_trim(0);
	if (figures())
		CHECK(before - rt_resident() > 2 * MIB);
	for (size_t i = 0; i < 4000; i += 40) {
		for (size_t k = 0; k < 1000; k++)
			CHECK_EQ(p[i][k], 5);
		ash_release(p[i]);
	}
	CHECK_EQ(ash_check(), 0);
}
