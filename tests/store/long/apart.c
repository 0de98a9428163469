/* SPDX-License-Identifier: MIT */
/* Heaps in files are where nothing else is: see store/program/apart.h. */
#include "store/program/apart.h"

TEST_CALL(apart_fresh_programs_many, 3000, apart_all(2000));

int main(int argc, char **argv, UNUSED char **envp)
{
	return apart_main(argc, argv);
}
