/* SPDX-License-Identifier: MIT */
/* Every public call once, for each of the libraries. */
/* promises: ash_good_size, ash_stats, ash_usable_size */
#include "support/blocks.h"
#include "support/stamp.h"

TEST(api_smoke, 10)
{
	unsigned char *p = ash_alloc(100), *q = ash_zalloc(3, 50), *r, *s;

	CHECK(p != NULL && q != NULL && p != q);
	for (int i = 0; i < 150; i++)
		CHECK(q[i] == 0);
	memset(p, 1, 100);
	r = ash_resize(p, 5000);
	CHECK(r != NULL && r[0] == 1 && r[99] == 1);
	s = ash_aligned_alloc(4096, 10);
	CHECK(s != NULL && (uintptr_t)s % 4096 == 0);
	CHECK(ash_usable_size(q) >= 150 && ash_good_size(150) >= 150);
	CHECK_EQ(ash_check(), 0);
	CHECK_EQ(stats_now().blocks, 3);
	ash_release(r);
	ash_release_sized(q, 150);
	ash_release(s);
	stamp_check_nothing_left();
	r = NOT_NULL(ash_alloc(10 * MIB));
	r[0] = r[10 * MIB - 1] = 1;
	CHECK_EQ(ash_check(), 0);
	r = ash_resize(r, 20 * MIB);
	CHECK(r != NULL && r[0] == 1 && r[10 * MIB - 1] == 1);
	CHECK_EQ(ash_check(), 0);
	ash_release(r);
	CHECK_EQ(ash_check(), 0);
	ash_trim(0);
	stamp_check_nothing_left();
	CHECK(ash_alloc(SIZE_MAX) == NULL && ash_zalloc(SIZE_MAX / 2, 3) == NULL);
}
