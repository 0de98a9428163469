/* SPDX-License-Identifier: MIT */
/* Large blocks: their cost in memory, mappings and faults. */
/* promises: ash_alloc, ash_aligned_alloc, ash_resize, ash_zalloc */
#include "support/resident.h"
#include "support/blocks.h"

/* The unused part of the last chunk costs nothing, be it new or of an earlier block. */
TEST(large_tail_costs_nothing, 20)
{
	/* The tail's page where pages may have 64 KiB, and those of the program itself. */
	const size_t own = 80 * KIB;
	size_t before;
	unsigned char *p;

	needs_small_pages();
	ash_release(ash_alloc(1));
	before = rt_anonymous();
	p = NOT_NULL(ash_alloc(2 * MIB + 64));
	memset(p + 2 * MIB, 1, 64);
	if (figures())
		CHECK(rt_anonymous() - before <= 16 * KIB);
	ash_release(p);
	p = ash_alloc(4 * MIB);
	memset(p, 1, 4 * MIB);
	ash_release(p);
	p = ash_alloc(2 * MIB + 64);
	if (figures())
		CHECK(rt_anonymous() - before <= 2 * MIB + own);
	memset(p, 1, 2 * MIB + 64);
	p = ash_resize(p, 4 * MIB);
	memset(p, 1, 4 * MIB);
	CHECK(ash_resize(p, 2 * MIB + 64) == p);
	if (figures())
		CHECK(rt_anonymous() - before <= 2 * MIB + own);
}

TEST(large_many_blocks_few_mappings, 60)
{
	enum { MOST = 20000 };
	static unsigned char *p[MOST];
	size_t n = scaled(MOST, 200), before = rt_mappings(), i;

	for (i = 0; i < n; i++)
		p[i] = promised(ash_alloc(3 * MIB));
	rt_print("     %zu blocks in %zu mappings\n", n, rt_mappings() - before);
	CHECK(rt_mappings() - before <= 100);
	release_each(p, n);
	CHECK_EQ(ash_check(), 0);
}

/* A GiB that must move is moved, not copied: no fault, and the pages with it. */
TEST(large_moves_without_faults, 20)
{
	size_t bytes = scaled(512 * MIB, 32 * MIB), i;
	unsigned char *p = ash_alloc(bytes), *q;
	unsigned long faults;
	uint64_t start;

	for (i = 0; i < bytes; i += 4096)
		*(size_t *)(void *)(p + i) = i;
	/* Something stands in the way. */
	q = ash_resize(p, bytes + 2 * MIB);
	CHECK(q == p);
	q = ash_resize(p, bytes);
	CHECK(ash_alloc(2 * MIB) != NULL);
	faults = rt_faults();
	start = rt_now();
	q = promised(ash_resize(p, 3 * bytes));
	start = rt_now() - start;
	CHECK(q != p);
	faults = rt_faults() - faults;
	rt_print("     %zu MiB moved: %zu us, %zu faults\n", bytes / MIB, (size_t)(start / 1000),
		 (size_t)faults);
	if (figures())
		CHECK(faults < 100);
	for (i = 0; i < bytes; i += 4096)
		CHECK_EQ(*(size_t *)(void *)(q + i), i);
}

/* Untouched again and again: neither faults nor memory; touched throughout: no more faults. */
TEST(large_zeroed_again, 20)
{
	size_t bytes = scaled(100 * MIB, 10 * MIB), before, round, i;
	unsigned long faults = 0;
	unsigned char *p;

	ash_release(ash_zalloc(1, bytes));
	before = rt_anonymous();
	for (round = 0; round < 1000; round++)
		ash_release(ash_zalloc(1, bytes));
	if (figures())
		CHECK(rt_anonymous() <= before + 64 * KIB);
	for (round = 0; round < 6; round++) {
		if (round == 2)
			faults = rt_faults();
		p = NOT_NULL(ash_zalloc(1, bytes));
		for (i = 0; i < bytes; i += 4096) {
			CHECK_EQ(p[i] | p[i + 4095], 0);
			p[i] = p[i + 4095] = 0xa5;
		}
		ash_release(p);
	}
	if (figures())
		CHECK(rt_faults() - faults < 100);
}

/* By steps of a MiB, each of which is filled: the contents stay. */
TEST(large_growth_by_steps, 30)
{
	size_t most = scaled(400, 40), mib, moves = 0;
	unsigned char *p = NULL, *q;

	for (mib = 1; mib <= most; mib++) {
		q = NOT_NULL(ash_resize(p, mib * MIB));
		moves += q != p;
		p = q;
		for (size_t i = (mib - 1) * MIB; i < mib * MIB; i += 4096)
			*(size_t *)(void *)(p + i) = i;
	}
	rt_print("     %zu moves in %zu steps\n", moves, most);
	for (size_t i = 0; i < most * MIB; i += 4096)
		CHECK_EQ(*(size_t *)(void *)(p + i), i);
	CHECK(moves < 30);
}

/* At the limit of mappings calls that need no mapping work: blocks, growth, giving back. */
TEST(large_at_the_mapping_limit, 30)
{
	enum { HOLES = 70000 };
	const size_t within = MIB / 2 - 32 * KIB; /* no mapping of its own, in the small product either */
	unsigned char *p, *q;
	char *comb, *at;

	if (rt_under_qemu())
		rt_skip("the emulator needs mappings of its own");
	CHECK(ash_alloc(100) != NULL); /* there is a chunk for blocks */
	p = ash_alloc(40 * MIB);
	q = ash_alloc(3 * MIB);
	memset(p, 1, 40 * MIB);
	memset(q, 2, 3 * MIB);
	comb = NOT_NULL(rt_map((size_t)2 * HOLES * 4096));
	for (at = comb; at < comb + (size_t)2 * HOLES * 4096; at += 8192)
		rt_unmap(at, 4096);
	for (int i = 0; i < 20; i++) {
		unsigned char *z;

		p = ash_resize(p, 20 * MIB);
		CHECK(p != NULL && p[20 * MIB - 1] == 1);
		p = ash_resize(p, 40 * MIB);
		CHECK(p != NULL && p[0] == 1);
		memset(p, 1, 40 * MIB);
		z = NOT_NULL(ash_zalloc(1, within));
		for (size_t k = 0; k < within; k += 8)
			CHECK_EQ(*(uint64_t *)(void *)(z + k), 0);
		ash_release(z);
		ash_release(q);
		(void)ash_trim(0);
		q = NOT_NULL(ash_alloc(3 * MIB));
		memset(q, 2, 3 * MIB);
	}
	CHECK_EQ(ash_check(), 0);
}
