/* SPDX-License-Identifier: MIT */
/* The seat after a thread's first call, in which a handler made its own first call. */
#include "support/handler_at_step.h"
#include "thread/owner.h"
#include "thread/seat.h"

static void *block;

DOES(first_call, block = ash_alloc(48));
DOES(act_first, ash_release(ash_alloc(48)));

/* A seat that stays closed is harmless: all calls use the unowned slabs, and work. */
TEST(inner_seat_is_open_after_a_handlers_first_call, 30)
{
	bool more = true;
	size_t k;

	step_begin(act_first);
	for (k = 0; more; k += k < 200 ? 1 : 23) { /* the first steps are those of ash_alloc itself */
		ash_thread_detach();
		more = with_act_at(k, first_call);
		CHECK(seat.open == SEAT_OPEN && seat.self != owner_none);
		ash_release(block);
	}
	CHECK(k > 100);
	CHECK_EQ(ash_check(), 0);
}
