/* SPDX-License-Identifier: MIT */
/* Zeroed blocks: products that overflow, and dirt from every source. */
/* promises: ash_zalloc */
#include "support/blocks.h"
#include "support/pattern.h"
#include "support/resident.h"

static size_t affordable(void)
{
	return rt_under_qemu() ? MIB : 4 * MIB;
}

/* count * size, by 128-bit arithmetic, decides which answer must come. */
static void one_pair(size_t count, size_t size)
{
	unsigned __int128 product = (unsigned __int128)count * size;
	unsigned char *p;

	/* Between these two NULL and a block are both right, and a block is dear. */
	if (product > 64 * MIB && product < (unsigned __int128)1 << 47)
		return;
	p = ash_zalloc(count, size);
	if (product >= (unsigned __int128)1 << 47) {
		CHECK(p == NULL);
		return;
	}
	CHECK(p != NULL);
	CHECK(ash_usable_size(p) >= (size_t)product);
	if (product <= affordable()) {
		is_zero(p, (size_t)product);
		memset(p, 0xa5, ash_usable_size(p));
	}
	ash_release(p);
}

/* Numbers of all magnitudes, and near the powers of two. */
static size_t random_number(struct rt_random *r)
{
	unsigned shift = (unsigned)rt_below(r, 64);
	size_t power = (size_t)1 << shift;

	switch (rt_below(r, 4)) {
	case 0:
		return power + rt_below(r, 5) - 2;
	case 1:
		return rt_below(r, 200);
	default:
		return power | rt_below(r, power);
	}
}

TEST(zalloc_products, 60)
{
	size_t pairs = rt_in_full() ? 100000 : 10000;
	struct rt_random random;

	rt_seed(&random, rt_test_seed());
	for (size_t i = 0; i < pairs; i++) {
		size_t a = random_number(&random), b = random_number(&random);

		if (rt_below(&random, 4) == 0 && a > 0) /* just below and above overflow */
			b = SIZE_MAX / a + rt_below(&random, 3);
		if (rt_below(&random, 8) == 0 && a > 0) /* and PTRDIFF_MAX */
			b = PTRDIFF_MAX / a + rt_below(&random, 3);
		one_pair(a, b);
		one_pair(b, a);
	}
	CHECK_EQ(ash_check(), 0);
	CHECK_EQ(stats_now().blocks, 0);
}

TEST(zalloc_borders, 10)
{
	static const size_t numbers[] = {0, 1, 2, 3, 7, 8, (size_t)1 << 31, ((size_t)1 << 32) - 1, (size_t)1 << 32,
					 ((size_t)1 << 32) + 1, PTRDIFF_MAX - 1, PTRDIFF_MAX, (size_t)PTRDIFF_MAX + 1,
					 SIZE_MAX - 1, SIZE_MAX};
	enum { N = sizeof(numbers) / sizeof(numbers[0]) };

	for (unsigned i = 0; i < N; i++)
		for (unsigned j = 0; j < N; j++)
			one_pair(numbers[i], numbers[j]);
	CHECK(ash_zalloc(2, ((size_t)1 << 63)) == NULL); /* 0, in 64 bits */
	CHECK(ash_zalloc(((size_t)1 << 32) + 1, ((size_t)1 << 32)) == NULL);
	CHECK(ash_alloc(SIZE_MAX) == NULL);
	CHECK(ash_alloc((size_t)PTRDIFF_MAX + 1) == NULL);
	CHECK(ash_good_size(PTRDIFF_MAX) != 0 && ash_good_size((size_t)PTRDIFF_MAX + 1) == 0);
	CHECK(ash_alloc(PTRDIFF_MAX) == NULL);
}

/* Of no bytes: blocks, each another one. */
TEST(zalloc_of_nothing, 10)
{
	void *a = ash_zalloc(0, 100), *b = ash_zalloc(100, 0), *c = ash_zalloc(0, SIZE_MAX);

	CHECK(a != NULL && b != NULL && c != NULL);
	CHECK(a != b && b != c && a != c);
	ash_release(a);
	ash_release(b);
	ash_release(c);
}

/*
 * Blocks of one size are dirtied to the last usable byte and released; zeroed
 * ones of this and of other sizes take their memory over.
 */
static void reuse(size_t dirty, size_t zeroed, unsigned count, bool trim)
{
	static unsigned char *p[256];

	CHECK(count <= 256);
	for (unsigned i = 0; i < count; i++) {
		p[i] = NOT_NULL(ash_alloc(dirty));
		memset(p[i], 0xa5, ash_usable_size(p[i]));
	}
	/* Every other one first, so that slabs are half full for a while. */
	for (unsigned i = 0; i < count; i += 2)
		ash_release(p[i]);
	for (unsigned i = 0; i < count; i += 2) {
		p[i] = ash_zalloc(1, dirty);
		is_zero(p[i], dirty);
		memset(p[i], 0xa5, ash_usable_size(p[i]));
	}
	release_each(p, count);
	if (trim)
		ash_trim(MIB);
	for (unsigned i = 0; i < count; i++) {
		p[i] = NOT_NULL(ash_zalloc(1, zeroed));
		is_zero(p[i], zeroed);
	}
	release_each(p, count);
}

TEST(zalloc_reuse_small, 60)
{
	for (size_t size = 1; size <= 4096; size = size * 3 / 2 + 1)
		for (unsigned n = 1; n <= 256; n *= 4) {
			reuse(size, size, n, false);
			reuse(size, size * 2, n, n > 1);
			reuse(size * 2, size, n, false);
		}
	CHECK_EQ(ash_check(), 0);
}

TEST(zalloc_reuse_medium, 60)
{
	unsigned n = rt_under_qemu() ? 4 : 24;

	for (size_t size = 5000; size <= MIB / 2; size = size * 2 + 1) {
		reuse(size, size, n, false);
		reuse(size, size * 2, n, true);
		reuse(size * 2, size, n, false);
		reuse(size, 48, n, false);
	}
	CHECK_EQ(ash_check(), 0);
}

TEST(zalloc_reuse_large, 60)
{
	unsigned n = rt_under_qemu() ? 2 : 6;

	for (size_t size = MIB; size <= 9 * MIB; size = size * 2 + 4097) {
		reuse(size, size, n, false);
		reuse(size, size / 3, n, true);
		reuse(size / 3, size, n, false);
		reuse(size, 1000, n, false);
	}
	CHECK_EQ(ash_check(), 0);
}

/* Dirt that other threads released. */
static void release_all(void *list)
{
	void **p = list;

	for (; *p != NULL; p++)
		ash_release(*p);
}

TEST(zalloc_reuse_from_other_threads, 60)
{
	static void *list[513];

	for (size_t size = 16; size <= 20000; size *= 5) {
		for (unsigned i = 0; i < 512; i++) {
			list[i] = NOT_NULL(ash_alloc(size));
			memset(list[i], 0xa5, ash_usable_size(list[i]));
		}
		rt_in_thread(release_all, list);
		for (unsigned i = 0; i < 512; i++) {
			list[i] = NOT_NULL(ash_zalloc(1, size));
			is_zero(list[i], size);
		}
		release_all(list);
	}
	CHECK_EQ(ash_check(), 0);
}

/* Large zeroed blocks cost the pages that are written, not the others. */
TEST(zalloc_stays_sparse, 60)
{
	size_t bytes = rt_under_qemu() ? 64 * MIB : 2048 * MIB, before;
	unsigned char *p;

	ash_release(ash_alloc(100));
	before = rt_anonymous();
	needs_small_pages();
	p = promised(ash_zalloc(bytes / 8, 8));
	for (size_t i = 0; i < bytes; i += 16 * MIB)
		p[i] = 1;
	if (!rt_under_qemu()) /* there the figure is the emulator's */
		CHECK(rt_anonymous() - before < 2 * MIB);
	ash_release(p);
}

/* A heap that grows first fills the holes of older slabs. */
TEST(growth_rests_bins, 30)
{
	enum { BLOCKS = 4000, SIZE = 200 };
	static char *p[BLOCKS];
	struct ash_statistics before;
	char *last, *next;
	size_t i;

	alloc_each(p, BLOCKS, SIZE);
	/* The bin stays in the last slab, which has room; so have all others now. */
	for (i = 0; i < BLOCKS; i += 2)
		ash_release(p[i]);
	last = ash_alloc(SIZE);
	ash_stats(&before);
	do {
		CHECK(ash_alloc(32000) != NULL);
	} while (stats_now().reserved == before.reserved);
	next = ash_alloc(SIZE);
	CHECK((next > last ? next - last : last - next) > (64 << 10));
}

/* So do small blocks, in a heap that grows: a block that was never used is not cleared. */
TEST(zalloc_small_stays_untouched, 60)
{
	size_t bytes = 0, size = 100, before;

	ash_release(ash_alloc(100));
	before = rt_anonymous();
	for (; bytes < 128 * MIB; bytes += size, size = size * 9 / 8 % 4000 + 50)
		CHECK(ash_zalloc(1, size) != NULL);
	if (!rt_under_qemu())
		CHECK(rt_anonymous() - before < bytes / 32); /* metadata: a fiftieth */
}
