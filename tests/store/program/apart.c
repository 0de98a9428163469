/* SPDX-License-Identifier: MIT */
/* Heaps in files are where nothing else is, a few times; tests/store/long/apart.c: 2000. */
/* promises: ash_heap_create_file, ash_heap_attach_file */
#include "store/program/apart.h"

TEST_CALL(apart_fresh_programs, 60, apart_all(rt_under_qemu() ? 6 : 40));

int main(int argc, char **argv, UNUSED char **envp)
{
	return apart_main(argc, argv);
}
