/* SPDX-License-Identifier: MIT */
/* The function that operator new calls returns a block at once, or the result of another function. */
#include "ashlar.h"
#include "front/alloc.h"
#include "base/class.h"
#include "rt.h"

static size_t rested;

static void *rest(size_t size)
{
	rested = size;
	return ash_alloc(size);
}

TEST(alloc_or_else, 10)
{
	for (size_t size = 0; size <= 2 * SLOT_SMALL; size++) {
		char *p, *q;

		ash_release(rest(size)); /* its bin has a slab */
		rested = 0;
		p = ash_alloc_or(size, rest);
		CHECK_EQ(rested, 0);
		q = rest(size);
		CHECK_EQ(ash_usable_size(p), ash_good_size(size));
		CHECK_EQ(ash_usable_size(p), ash_usable_size(q));
		ash_release(p);
		ash_release(q);
	}
	CHECK_EQ(ash_check(), 0);
}
