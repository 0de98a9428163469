/* SPDX-License-Identifier: MIT */
/* Advice is believed only of the memory that it was given for: not of what came to its place. */
/* promises: ash_alloc, ash_resize */
#include "backend/region.h"
#include "program/smaps.h"

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

/* A region is retired, and one that comes in its record's place lies in fresh memory. */
TEST(huge_in_a_region_made_anew, 20)
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

/* Pages that move bring the advice of the place that they come from. */
TEST(huge_where_a_block_moved_to, 20)
{
	const size_t bytes = 64 * MIB;
	unsigned char *p, *q, *target;

	needs_huge_pages();
	q = ash_alloc(bytes);
	p = ash_alloc(3 * MIB); /* too small to be huge, and in another region */
	target = written(q, bytes);
	p = written(p, 3 * MIB);
	CHECK_EQ(advised(p, 2 * MIB), 0);
	CHECK(advised(target, 4 * MIB) == 4 * MIB);
	ash_release(target);
	q = ash_resize(p, bytes);
	if (q != target)
		rt_skip("the block did not move to where the other one was");
	(void)written(q, bytes);
	CHECK_EQ(advised(q, 4 * MIB), 4 * MIB);
}
