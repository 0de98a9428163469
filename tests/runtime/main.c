/* SPDX-License-Identifier: MIT */
/* The main of tests: a program without a main of its own gets this one from the archive. */
#include "rt.h"

int main(int argc, char **argv, __attribute__((unused)) char **envp)
{
	return rt_run_tests(argc, argv);
}
