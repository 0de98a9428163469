/* SPDX-License-Identifier: MIT */
#include "program/look_damaged.h"

TEST_CALL(look_damaged_cores, 600, damaged_cores(rt_in_full() ? 1500 : rt_under_qemu() ? 4 : 60));
