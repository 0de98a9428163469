/* SPDX-License-Identifier: MIT */
/* Looks at a busy program, some; tests/long/look.c has 1000. */
#include "program/look_speed.h"

TEST_CALL(look_at_full_speed, 60, look_at_speed(rt_under_qemu() ? 4 : 8));
