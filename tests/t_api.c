/* SPDX-License-Identifier: MIT */
/* The public interface, one promise of its header at a time. */
#include "ashlar.h"
#include "rt.h"

TEST(api_smoke, 10)
{
	char *p = ash_alloc(100), *q = ash_zalloc(3, 50), *r;
	struct ash_stats st;

	CHECK(p != NULL && q != NULL && p != q);
	for (int i = 0; i < 150; i++)
		CHECK(q[i] == 0);
	memset(p, 1, 100);
	r = ash_resize(p, 5000);
	CHECK(r != NULL && r[99] == 1);
	CHECK_EQ(ash_check(), 0);
	ash_release(r);
	ash_release(q);
	CHECK_EQ(ash_check(), 0);
	ash_stats(&st);
	CHECK_EQ(st.blocks, 0);
	r = ash_alloc(10 << 20);
	CHECK(r != NULL);
	r[0] = r[(10 << 20) - 1] = 1;
	CHECK_EQ(ash_check(), 0);
	ash_release(r);
	CHECK_EQ(ash_check(), 0);
	ash_trim(0);
	CHECK_EQ(ash_check(), 0);
}
