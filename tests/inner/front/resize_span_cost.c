/* SPDX-License-Identifier: MIT */
/* What a call takes that resizes a span and changes nothing. */
#include "support/handler_at_step.h"

enum { BYTES = 10 << 20, MOST = 80 /* instructions, with the test's own few */ };

static void *block;
static size_t size = BYTES - 1000;

DOES(one_byte_more, CHECK(ash_resize(block, size++) == block));

static void nothing(void)
{
}

TEST(resize_steps_by_one_byte, 20)
{
	block = NOT_NULL(ash_alloc(size));
	step_begin(nothing);
	for (unsigned i = 0; i < 4; i++) {
		(void)with_act_at(SIZE_MAX, one_byte_more);
		rt_print("     %zu instructions\n", (size_t)boundary);
		CHECK(boundary > 10 && boundary <= MOST);
	}
	CHECK(ash_usable_size(block) == BYTES);
	ash_release(block);
}
