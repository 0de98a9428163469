/* SPDX-License-Identifier: MIT */
#include "rt.h"

int main(int argc, char **argv, __attribute__((unused)) char **envp)
{
	return rt_run_tests(argc, argv);
}
