/* SPDX-License-Identifier: MIT */
/* Files that lie: see program/forged.h. */
#include "program/forged.h"

TEST(forged_files_many, 3000)
{
	unsigned i;

	for (i = 0; i < 3; i++)
		forged_all(rt_test_seed() + i, 250);
}

int main(int argc, char **argv, __attribute__((unused)) char **envp)
{
	return rt_run_tests(argc, argv);
}
