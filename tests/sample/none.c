/* SPDX-License-Identifier: MIT */
/* No sample: a block that there is no memory for, and a thread's first blocks, which count as others do. */
#include "sample/sample.h"
#include "support/blocks.h"

static size_t seen;
static void *last;

static void see(void *p, UNUSED size_t size)
{
	__atomic_fetch_add(&seen, 1, __ATOMIC_RELAXED);
	last = p;
}

static void few_blocks(UNUSED void *argument)
{
	for (size_t i = 0; i < 10; i++)
		ash_release(ash_alloc(100 + 16 * i));
}

TEST(sample_begins_with_a_distance, 10)
{
	sample_also = see;
	ash_sample_every((size_t)1 << 40);
	for (unsigned i = 0; i < 30; i++)
		rt_in_thread(few_blocks, NULL);
	CHECK_EQ(seen, 0);
}

TEST(sample_without_memory, 10)
{
	size_t blocks = 0;
	void *p;

	if (rt_under_qemu() || !rt_limit_address_space(rt_address_space() + 64 * MIB))
		rt_skip("a limit of addresses has no effect under QEMU");
	sample_also = see;
	ash_sample_every(1);
	for (; (p = ash_alloc(600000)) != NULL; blocks++)
		CHECK(p == last);
	CHECK(ash_zalloc(1, 600000) == NULL && ash_aligned_alloc(64 * KIB, 600000) == NULL);
	CHECK(blocks > 10 && seen == blocks);
}
