/* SPDX-License-Identifier: MIT */
/* Files that lie, some of each kind; tests/long/forged.c has many. */
#include "program/forged.h"

TEST(forged_files, 60)
{
	forged_all(rt_test_seed(), rt_under_qemu() ? 3 : 25);
}

int main(int argc, char **argv, __attribute__((unused)) char **envp)
{
	return rt_run_tests(argc, argv);
}
