/* SPDX-License-Identifier: MIT */
/* The end of a detach: the seat, and the record that others may have by then. */
/* promises: ash_thread_detach */
#include "support/blocks.h"
#include "support/handler_at_step.h"
#include "support/wrap.h"
#include "thread/owner.h"
#include "thread/seat.h"

static size_t seated;

/* A handler's call: it gets a record of its own, or takes the unowned slabs. */
static void act_call(void)
{
	ash_release(ash_alloc(48));
	seated += seat.self != owner_none && seat.open == SEAT_OPEN;
}

/* What is stepped begins with the last that the leaving thread does with its slabs. */
WRAP(void, shrink_in_place, (struct owner *o))
{
	__real_shrink_in_place(o);
	if (stepping)
		trap_begin();
}

static bool detach_with_act_at(size_t k)
{
	acted = boundary = 0;
	act_at = k;
	stepping = true;
	ash_thread_detach();
	stepping = false;
	return acted > 0;
}

/* A thread that has a seat afterwards holds its record: no other thread gets it. */
static void the_seat_is_held(void)
{
	CHECK(seat.record == NULL || seat.record == seat.self);
	CHECK((seat.open == SEAT_OPEN) == (seat.self != owner_none));
	if (seat.self != owner_none)
		CHECK(load_relaxed(&seat.self->state) != OWNER_VACANT);
}

TEST(detach_interrupted_near_its_end, 30)
{
	bool more = true;
	size_t k;

	step_begin(act_call);
	for (k = 0; more; k++) {
		ash_release(ash_alloc(48));
		more = detach_with_act_at(k);
		the_seat_is_held();
		ash_release(ash_alloc(48));
		the_seat_is_held();
	}
	rt_print("     %zu boundaries\n", k);
	CHECK(k > 30);
	CHECK(seated > 0); /* at the last boundaries, with the record gone */
	CHECK_EQ(ash_check(), 0);
	CHECK_EQ(stats_now().owners, 1);
}
