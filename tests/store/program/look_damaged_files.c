/* SPDX-License-Identifier: MIT */
/* Damaged images of heaps in files, some; tests/store/long/look_files.c has 1500. */
#include "store/program/look_damaged_files.h"

TEST_CALL(look_damaged_heaps, 60, damaged_files(rt_under_qemu() ? 4 : 60));
