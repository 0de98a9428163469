/* SPDX-License-Identifier: MIT */
/* Files that lie: see store/program/forged.h.  10 000 of each way to be left, 2500 of another build's; 10 000 calls in each file. */
#include "store/program/forged.h"

enum { SEEDS = 4, EACH = 10000 / SEEDS / FORGED_KINDS };

static void many(enum forged_left left, unsigned seeds)
{
	unsigned i;

	forged_calls = 5000; /* two each */
	for (i = 0; i < seeds; i++)
		forged_all(rt_test_seed() + i, EACH / (unsigned)rt_share() + 1, left);
}

TEST_CALL(forged_files_many, 6000, many(FORGED_LEFT_BY_DETACH, SEEDS));
TEST_CALL(forged_files_many_of_the_killed, 6000, many(FORGED_LEFT_BY_KILL, SEEDS));

TEST(forged_files_many_of_another_build, 6000)
{
	forged_anothers = true; /* nothing of its records is believed */
	many(FORGED_LEFT_BY_KILL, 1);
}
