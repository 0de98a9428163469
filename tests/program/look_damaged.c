/* SPDX-License-Identifier: MIT */
/* Damaged images, some; tests/long/look.c has 1500. */
#include "program/look_damaged.h"

TEST_CALL(look_damaged_cores, 60, damaged_cores(rt_under_qemu() ? 4 : 60));
