/* SPDX-License-Identifier: MIT */
/* The memory that ash_trim leaves, also inside slabs that are half empty. */
/* promises: ash_trim */
#include "support/blocks.h"
#include "support/resident.h"

/* One block in each `apart` bytes stays, and must not have changed. */
static void leave_few(size_t size, size_t apart)
{
	enum { MOST = 300000 };
	static unsigned char *p[MOST];
	size_t n = scaled(64 * MIB, 8 * MIB) / size, base, i, told, left;
	size_t every = apart / size, most = n / every * (size + 2 * PAGE) + 4 * MIB;

	needs_small_pages();
	CHECK(n <= MOST);
	(void)ash_trim(0); /* memory that the last calls have left */
	base = rt_anonymous();
	for (i = 0; i < n; i++) {
		p[i] = NOT_NULL(ash_alloc(size));
		memset(p[i], (int)(i % 251), size);
	}
	for (i = 0; i < n; i++)
		if (i % every != every / 2)
			ash_release(p[i]);
	told = ash_trim(0);
	left = rt_anonymous() > base ? rt_anonymous() - base : 0;
	if (figures()) {
		CHECK(told <= n * size + n * size / 8); /* bytes that it gave back */
		rt_print("     %zu-byte blocks: %zu KiB left\n", size, left / KIB);
		CHECK(left <= most);
	}
	for (i = every / 2; i < n; i += every)
		for (size_t k = 0; k < size; k++)
			CHECK_EQ(p[i][k], i % 251);
	CHECK_EQ(ash_check(), 0);
	/* Nothing is left to give back, and it says so. */
	if (figures())
		CHECK_EQ(ash_trim(0), 0);
	/* Purged memory is usable, and zero where that is promised. */
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

/* Most slabs get empty. */
TEST(trim_beside_slabs, 20)
{
	leave_few(256, 2 * MIB);
	leave_few(304, 2 * MIB);
	leave_few(1000, 2 * MIB);
	leave_few(5000, 2 * MIB);
	leave_few(20000, 2 * MIB);
}

/* No slab gets empty. */
TEST(trim_inside_slabs, 20)
{
	leave_few(256, 64 * KIB);
	leave_few(304, 64 * KIB);
	leave_few(1000, 64 * KIB);
	leave_few(5000, 60 * KIB);
	leave_few(20000, 120 * KIB);
}

/* ash_trim(keep) leaves that much, of whatever kind. */
TEST(trim_keeps, 20)
{
	enum { N = 20000 };
	static unsigned char *p[N];
	unsigned char *spans[4];
	size_t live, left, there;

	needs_small_pages();
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
	release_each(spans, 4);
	for (size_t keep = 16 * MIB; keep > 0; keep /= 2) {
		if (keep < 64 * KIB)
			keep = 0;
		there = rt_anonymous();
		(void)ash_trim(keep);
		left = rt_anonymous();
		rt_print("     trim(%zu KiB): %zu KiB\n", keep / KIB, left / KIB);
		live = N / 100 * PAGE + 2 * MIB;
		CHECK(left <= live + keep);
		/* And not much less than may stay of the memory that had not gone by itself. */
		CHECK(left + 4 * MIB >= (keep < there ? keep : there));
		if (keep == 0)
			break;
	}
	for (int i = 0; i < N; i += 100)
		CHECK(p[i][0] == 1 && p[i][999] == 1);
}

/* Of a peak that came again, which stays as a whole. */
TEST(trim_keeps_of_a_peak, 20)
{
	unsigned char *spans[10];

	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < 10; i++)
			spans[i] = filled(2 * MIB);
		release_each(spans, 10);
	}
	CHECK(stats_now().dirty >= 16 * MIB);
	(void)ash_trim(9 * MIB);
	CHECK(stats_now().dirty <= 9 * MIB && stats_now().dirty > 6 * MIB);
	(void)ash_trim(0);
	CHECK_EQ(stats_now().dirty, 0);
}

/* A trim begins with the last chunk of the newest region: that one counts, too. */
TEST(trim_last_chunk, 10)
{
	enum { BYTES = 2 * MIB - 64 * KIB, MOST = 32 };
	struct ash_statistics st;
	char *span[MOST];
	size_t n = 0;

	/* Chunks are taken lowest first, so when all of them are in use the last one came last. */
	do {
		CHECK(n < MOST);
		CHECK((span[n++] = ash_alloc(BYTES)) != NULL);
		ash_stats(&st);
	} while (n < 4 || st.reserved != st.spans);
	memset(span[n - 1], 1, BYTES);
	(void)ash_trim(1);
	ash_release(span[n - 1]);
	CHECK_EQ(stats_now().dirty, 2 * MIB);
	(void)ash_trim(1); /* no dirty memory stays, and no region goes */
	ash_stats(&st);
	CHECK_EQ(st.dirty, 0);
	CHECK_EQ(st.reserved, n * 2 * MIB);
}

/* Slabs that a thread left half empty at its end are given back, too. */
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
	before = rt_anonymous();
	(void)ash_trim(0);
	if (figures())
		CHECK(before - rt_anonymous() > 2 * MIB);
	for (size_t i = 0; i < 4000; i += 40) {
		for (size_t k = 0; k < 1000; k++)
			CHECK_EQ(p[i][k], 5);
		ash_release(p[i]);
	}
	CHECK_EQ(ash_check(), 0);
}
