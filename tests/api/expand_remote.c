/* SPDX-License-Identifier: MIT */
/* ash_expand where other threads have released. */
/* promises: ash_expand */
#include "ashlar.h"
#include "support/pattern.h"

/*
 * A slot that another thread released is taken again by way of a bin, and its slab stays on the
 * partial list: it must not be taken from a list where it is not.
 */
TEST(expand_what_another_thread_released, 10)
{
	char *p, *q[8];
	unsigned i;

	for (unsigned round = 0; round < 8; round++) {
		(void)ash_trim(0); /* no spares: their units would be in the way */
		p = ash_alloc(40 * KIB);
		rt_in_thread(ash_release, p);
		p = ash_alloc(40 * KIB);
		fill(p, 40 * KIB, round);
		(void)ash_expand(p, 70 * KIB);
		for (i = 0; i < 8; i++) {
			q[i] = ash_alloc(40 * KIB);
			fill(q[i], 40 * KIB, 8 + i);
		}
		holds(p, 40 * KIB, round);
		ash_release(p);
		for (i = 0; i < 8; i++) {
			holds(q[i], 40 * KIB, 8 + i);
			ash_release(q[i]);
		}
		CHECK_EQ(ash_check(), 0);
	}
}
