/* SPDX-License-Identifier: MIT */
/* Looks at boundaries of calls, some; tests/long/look.c looks at each. */
#include "program/look_steps.h"

TEST_CALL(look_at_boundaries, 60, look_at_steps(61));
