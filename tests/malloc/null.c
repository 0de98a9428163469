/* SPDX-License-Identifier: MIT */
/* Malloc's side is told that NULL was released, and of nothing else. */
#include "ashlar.h"
#include "rt.h"

static unsigned told;

/* core/front/quick.h */
void quick_null(void);
void quick_null(void)
{
	told++;
}

TEST(null_is_told, 10)
{
	void *p = ash_alloc(100);

	ash_release(NULL);
	CHECK_EQ(told, 1);
	CHECK(ash_resize(NULL, 0) != NULL);
	ash_release(p);
	CHECK_EQ(told, 1);
	ash_release(NULL);
	CHECK_EQ(told, 2);
}
