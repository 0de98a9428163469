/* SPDX-License-Identifier: MIT */
/* Files that lie, some of each kind; tests/store/long/forged.c has many. */
/* promises: ash_heap_attach_file, ash_heap_view_file */
#include "store/program/forged.h"

TEST_CALL(forged_files, 60, forged_all(rt_test_seed(), rt_under_qemu() ? 3 : 12, FORGED_LEFT_BY_DETACH));
TEST_CALL(forged_files_of_the_killed, 60, forged_all(rt_test_seed(), rt_under_qemu() ? 3 : 12, FORGED_LEFT_BY_KILL));

TEST(forged_files_of_another_build, 60)
{
	forged_anothers = true;
	forged_all(rt_test_seed(), rt_under_qemu() ? 2 : 12, FORGED_LEFT_BY_KILL);
}
