/* SPDX-License-Identifier: MIT */
/* ashlar-look: 1000 looks at a busy program, one at each boundary, 1500 damaged images. */
#include "program/look_damaged.h"
#include "program/look_speed.h"
#include "program/look_steps.h"

TEST_CALL(look_speed_1000, 600, look_at_speed(1000));
TEST_CALL(look_at_each_boundary, 600, look_at_steps(1));
TEST_CALL(look_damaged_cores_many, 600, damaged_cores(1500));
