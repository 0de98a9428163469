/* SPDX-License-Identifier: MIT */
/* Huge pages: which blocks get them, as /proc/self/smaps tells, and which must not. */
/* promises: ash_alloc, ash_resize, ash_zalloc */
#include "ashlar.h"
#include "backend/heap.h"
#include "backend/region.h"
#include "program/faults.h"
#include "program/smaps.h"

static struct ash_defaults options;

static void use(enum ash_huge huge)
{
	options = ash_defaults;
	options.huge = huge;
	heap_default.options = &options;
}

static size_t huge_of_filled(size_t bytes)
{
	return huge_in(filled(bytes), bytes);
}

static size_t huge_of_zeroed(size_t bytes)
{
	unsigned char *p = NOT_NULL(ash_zalloc(1, bytes));

	touch(p, bytes);
	return huge_in(p, bytes);
}

/* The machine may be short of huge pages: some must be there, by far the most usually are. */
TEST(huge_default, 20)
{
	needs_huge_pages();
	is_huge(huge_of_filled(32 * MIB), 16 * MIB);
	CHECK_EQ(huge_of_zeroed(16 * MIB), 0);
}

/* And they are there where they are asked for, only. */
static void needs_them_only_where_asked(void)
{
	needs_huge_pages();
	needs_advice();
}

TEST(huge_default_small_span, 20)
{
	needs_them_only_where_asked();
	CHECK_EQ(huge_of_filled(31 * MIB), 0);
}

TEST(huge_never, 20)
{
	needs_huge_pages();
	faults.always = true;
	use(ASH_HUGE_NEVER);
	CHECK_EQ(huge_of_filled(16 * MIB), 0);
	CHECK_EQ(huge_of_zeroed(16 * MIB), 0);
	CHECK_EQ(huge_of_filled(3 * MIB), 0);
}

TEST(huge_always, 20)
{
	needs_huge_pages();
	use(ASH_HUGE_ALWAYS);
	is_huge(huge_of_filled(4 * MIB), 1);
	is_huge(huge_of_zeroed(4 * MIB), 1);
}

TEST(huge_populate, 20)
{
	unsigned char *p;
	unsigned long before;

	use(ASH_HUGE_POPULATE);
	p = NOT_NULL(ash_alloc(9 * MIB + 5000));
	before = rt_faults();
	touch(p, 9 * MIB + 5000);
	if (!rt_under_qemu())
		CHECK(rt_faults() - before < 10);
	p = NOT_NULL(ash_zalloc(1, 64 * MIB));
	for (size_t i = 0; i < 64 * MIB; i += 8)
		CHECK_EQ(*(uint64_t *)(void *)(p + i), 0);
}

/* Chunks of slabs get no huge pages while 2 MiB would be more than a sixteenth, and all get them later. */
TEST(huge_slabs, 20)
{
	size_t few = 0, many = 0, i, n;
	unsigned char *p = NULL, *first = NULL;

	needs_them_only_where_asked();
	for (i = 0; i < 96 * MIB; i += 256) {
		p = NOT_NULL(ash_alloc(256));
		memset(p, 1, 256);
		first = first == NULL ? p : first;
		if (i == 20 * MIB) {
			n = rt_anonymous();
			few = huge_in((void *)(KIB * 4), (size_t)1 << 47);
			CHECK(n < 24 * MIB);
		}
	}
	many = huge_in((void *)(KIB * 4), (size_t)1 << 47);
	rt_print("     huge: %zu MiB at 20 MiB of blocks, %zu at 96\n", few / MIB, many / MIB);
	if (heap_default.options->huge == ASH_HUGE_DEFAULT)
		CHECK_EQ(few, 0);
	is_huge(many, 32 * MIB);
}

/* Bytes that a heap of many such blocks has resident for each 100 that are written. */
static size_t resident_of(size_t block)
{
	size_t before = rt_anonymous(), n = 96 * MIB / block, i;

	for (i = 0; i < n; i++) {
		unsigned char *p = NOT_NULL(ash_alloc(block));

		memset(p, 1, block);
	}
	return (rt_anonymous() - before) * 100 / (n * block);
}

/* Of units that their block fills by half, and of ends of chunks, nothing is resident. */
TEST(huge_not_for_holes, 20)
{
	size_t blocks[] = {36, 72, 100, 160, 520}, i, percent;

	needs_them_only_where_asked();
	for (i = 0; i < sizeof blocks / sizeof *blocks; i++) {
		percent = resident_of(blocks[i] * KIB);
		rt_print("     %zu KiB: %zu %% resident\n", blocks[i], percent);
		CHECK(percent < 112);
	}
	CHECK_EQ(huge_in((void *)(KIB * 4), (size_t)1 << 47), 0);
}

/* The chunk that a block ends in is not advised when the block uses little of it. */
TEST(huge_not_for_a_tail, 20)
{
	size_t before, bytes = 32 * MIB + 64;
	unsigned char *p = ash_alloc(bytes);

	needs_them_only_where_asked();
	CHECK(p != NULL);
	before = rt_anonymous();
	memset(p + 32 * MIB, 1, 64);
	CHECK(rt_anonymous() - before <= 16 * KIB);
}

TEST(huge_sparse_stays_sparse_when_grown, 20)
{
	unsigned char *p;

	needs_huge_pages();
	faults.always = true;
	p = ash_zalloc(1, 20 * MIB);
	touch(p, 4 * MIB);
	p = ash_resize(p, 24 * MIB);
	p = NOT_NULL(ash_resize(p, 300 * MIB));
	p[200 * MIB] = 1;
	CHECK_EQ(huge_in(p, 300 * MIB), 0);
}

/* 16384 x 16384 doubles, the diagonal written, natively also where all mappings are huge. */
static void sparse_matrix(const void *argument)
{
	size_t n = rt_under_qemu() ? 2048 : 16384, before, after;
	double *m;

	faults.always = argument != NULL;
	ash_release(ash_alloc(1));
	before = rt_anonymous();
	m = NOT_NULL(ash_zalloc(n * n, sizeof(*m)));
	for (size_t i = 0; i < n; i++)
		m[i * n + i] = 1;
	after = rt_anonymous();
	if (!rt_under_qemu()) {
		rt_print("     %zu KiB\n", (after - before) / KIB);
		CHECK(after - before <= 70 * MIB);
	}
	for (size_t i = 1; i < n; i += 97)
		CHECK(m[i * n + i] == 1 && m[i * n + i - 1] == 0);
}
RT_ENTRY(sparse, "huge_sparse_matrix", sparse_matrix, NULL, 20);
RT_ENTRY(sparse_always, "huge_sparse_matrix_always", sparse_matrix, "always", 20);

/* ---- advice is believed only of the memory that it was given for, not of other memory at its place ---- */

/* Bytes of the range in mappings that are advised to be huge. */
static size_t advised(const void *p, size_t bytes)
{
	return smaps_sum(p, bytes, " hg");
}

static unsigned char *written(unsigned char *p, size_t bytes)
{
	CHECK(p != NULL);
	for (size_t i = 0; i < bytes; i += 4096)
		p[i] = 1;
	/* Advice may be given late: by an operation that finds it written. */
	for (unsigned i = 0; i < 4; i++)
		ash_release(ash_alloc(3 * MIB));
	return p;
}

/* A region is retired. The next one has its record, but fresh memory, and gets its own advice. */
TEST(huge_advice_for_the_next_region, 20)
{
	const size_t bytes = 128 * MIB;
	size_t before, after;
	unsigned char *p;

	needs_huge_pages();
	p = written(ash_alloc(bytes), bytes);
	before = advised(p, bytes);
	CHECK(before >= bytes / 2);
	ash_release(p);
	(void)ash_trim(0);
	CHECK(region_of(&heap_default, p) == NULL);
	p = written(ash_alloc(bytes), bytes);
	after = advised(p, bytes);
	CHECK_EQ(after, before);
}

