/* SPDX-License-Identifier: MIT */
/* Aligned blocks: each power of two up to 1 GiB, and other numbers. */
/* promises: ash_aligned_alloc */
#include "support/blocks.h"
#include "support/resident.h"

#define GIB ((size_t)1 << 30)

static size_t largest(void)
{
	if (!rt_under_qemu())
		return GIB;
	/* Addresses cost the emulator 6.5 MiB of the host for each GiB, and time. */
	rt_print("     alignments up to 64 MiB only: address space is dear under QEMU\n");
	return 64 * MIB;
}

/* First, last and some bytes in between: to touch all would take a machine. */
static void mark(unsigned char *p, size_t size, unsigned char value)
{
	for (size_t i = 0; i < size; i += size / 7 + 1)
		p[i] = value;
	if (size > 0)
		p[size - 1] = value;
}

static void marked(const unsigned char *p, size_t size, unsigned char value)
{
	for (size_t i = 0; i < size; i += size / 7 + 1)
		CHECK_EQ(p[i], value);
	if (size > 0)
		CHECK_EQ(p[size - 1], value);
}

static void *aligned(size_t alignment, size_t size)
{
	void *p = NOT_NULL(ash_aligned_alloc(alignment, size));

	CHECK_EQ((uintptr_t)p & (alignment - 1), 0);
	CHECK(ash_usable_size(p) >= size);
	CHECK(size < 16 || (uintptr_t)p % 16 == 0);
	return p;
}

TEST(align_all, 60)
{
	size_t most = largest(), before;

	ash_release(ash_alloc(1));
	for (size_t alignment = 1; alignment <= most; alignment *= 2) {
		const size_t sizes[] = {0, 1, alignment - 1, alignment, alignment + 1};
		unsigned char *p[5];

		before = rt_anonymous();
		for (unsigned i = 0; i < 5; i++) {
			p[i] = aligned(alignment, sizes[i]);
			mark(p[i], sizes[i], (unsigned char)(i + 1));
		}
		CHECK_EQ(ash_check(), 0);
		for (unsigned i = 0; i < 5; i++)
			marked(p[i], sizes[i], (unsigned char)(i + 1));
		/* Each touch may cost a huge page of 2 MiB; the alignment must cost nothing. */
		if (!rt_under_qemu() && rt_anonymous() > before)
			CHECK(rt_anonymous() - before < 5 * 9 * 2 * MIB);
		release_each(p, 5);
		ash_trim(0);
	}
	CHECK_EQ(ash_check(), 0);
}

/* A small block at a large alignment costs memory for itself alone. */
TEST(align_costs_no_memory, 60)
{
	size_t before, most = largest();
	unsigned char *p[32];
	unsigned n = 0;

	needs_small_pages();
	ash_release(ash_alloc(1));
	before = rt_anonymous();
	for (size_t alignment = 4096; alignment <= most; alignment *= 2) {
		p[n] = aligned(alignment, 10);
		p[n][9] = 1;
		n++;
	}
	if (!rt_under_qemu())
		CHECK(rt_anonymous() < before + MIB);
	while (n > 0)
		ash_release(p[--n]);
}

TEST(align_bad, 10)
{
	static const size_t bad[] = {0, 3, 5, 6, 7, 12, 24, 48, 4095, 4097, 3 * MIB, GIB + 1, GIB + 4096, 2 * GIB, 4 * GIB,
				     (size_t)1 << 47, (size_t)1 << 63, ((size_t)1 << 63) + 1, SIZE_MAX};

	for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		for (size_t size = 0; size < 10 * MIB; size = size * 9 + 1) {
			ash_release(ash_alloc(size)); /* so that there is a slot at hand */
			CHECK(ash_aligned_alloc(bad[i], size) == NULL);
		}
	for (size_t alignment = 1; alignment <= GIB; alignment *= 2) {
		CHECK(ash_aligned_alloc(alignment, (size_t)PTRDIFF_MAX + 1) == NULL);
		CHECK(ash_aligned_alloc(alignment, PTRDIFF_MAX) == NULL);
		CHECK(ash_aligned_alloc(alignment, SIZE_MAX) == NULL);
		CHECK(ash_aligned_alloc(alignment, SIZE_MAX - alignment + 1) == NULL);
	}
	CHECK_EQ(stats_now().blocks, 0);
	CHECK_EQ(ash_check(), 0);
}

/* Sizes that are no multiple of their alignment, many at a time, no two overlapping. */
TEST(align_random, 60)
{
	enum { LIVE = 200 };
	static struct {
		unsigned char *p;
		size_t size;
	} live[LIVE];
	size_t rounds = rt_under_qemu() ? 3000 : 50000;
	struct rt_random random;

	rt_seed(&random, rt_test_seed());
	for (size_t n = 0; n < rounds; n++) {
		unsigned i = (unsigned)rt_below(&random, LIVE);
		unsigned shift = (unsigned)rt_below(&random, 18);

		if (live[i].p != NULL) {
			marked(live[i].p, live[i].size, (unsigned char)i);
			ash_release_sized(live[i].p, live[i].size);
		}
		live[i].size = rt_below(&random, (size_t)2 << rt_below(&random, 18));
		live[i].p = aligned((size_t)1 << shift, live[i].size);
		mark(live[i].p, live[i].size, (unsigned char)i);
		if (n % 500 == 0)
			CHECK_EQ(ash_check(), 0);
	}
	for (unsigned i = 0; i < LIVE; i++)
		ash_release(live[i].p);
	CHECK_EQ(ash_check(), 0);
}

TEST(align_resize, 60)
{
	size_t most = largest();

	for (size_t alignment = 8; alignment <= most; alignment *= 2) {
		static const size_t sizes[] = {10, 100, 5000, 300000, 3 << 20};

		for (unsigned i = 0; i < 5; i++)
			for (unsigned j = 0; j < 5; j++) {
				unsigned char *p = aligned(alignment, sizes[i]), *q;
				size_t kept = sizes[i] < sizes[j] ? sizes[i] : sizes[j];

				for (size_t at = 0; at < sizes[i]; at += 997)
					p[at] = (unsigned char)(at / 997 + i);
				q = NOT_NULL(ash_resize(p, sizes[j]));
				for (size_t at = 0; at < kept; at += 997)
					CHECK_EQ(q[at], (unsigned char)(at / 997 + i));
				ash_release(q);
			}
		if (alignment > MIB)
			ash_trim(0);
	}
	CHECK_EQ(ash_check(), 0);
}

/* Aligned blocks come out of free memory too, not only out of new. */
TEST(align_reuses, 30)
{
	size_t alignment = 32 * MIB, blocks = rt_under_qemu() ? 3 : 12;
	struct ash_statistics before;
	void *p[12];

	ash_release(ash_alloc((blocks + 1) * alignment + 7 * MIB));
	ash_stats(&before);
	for (size_t i = 0; i < blocks; i++)
		p[i] = aligned(alignment, 3 * MIB);
	CHECK_EQ(before.reserved, stats_now().reserved);
	release_each(p, blocks);
}
