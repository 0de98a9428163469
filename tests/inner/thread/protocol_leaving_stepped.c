/* SPDX-License-Identifier: MIT */
/* A thread leaves its record between any two instructions of another one's release, and the other way round. */
#include "inner/slots.h"
#include "support/handler_at_step.h"
#include "thread/seating.h"

enum { SIZE = 48 };
static void *block;
static struct rt_barrier turns;

/* So that the slab does not go, and each block is the only one in its group. */
static void one_group(void)
{
	for (size_t i = 0; i < GROUP_SLOTS; i++)
		(void)NOT_NULL(ash_alloc(SIZE));
}

static struct slot_ref take(void)
{
	struct owner *o = seat_take();
	struct slot_ref at;

	bin_detach(o, class_of(SIZE));
	seat_open();
	block = NOT_NULL(ash_alloc(SIZE));
	at = place_of(block);
	CHECK(at.group > 0);
	return at;
}

static void leaves(void)
{
	struct owner *o = seat_take();

	owner_vacate(o);
	visit_vacant(o);
}

static void comes_back(size_t n)
{
	struct owner *o = seat.self;

	CHECK(n % 2 != 0 ? owner_hold_as(o, holder_seated(o->heap)) : owner_hold(o));
	seat_open();
}

DOES(releases, ash_release(block));

/* The helper's turn; the stepped thread waits for it. */
static void helper_acts(void)
{
	rt_barrier_wait(&turns);
	rt_barrier_wait(&turns);
}

static _Atomic bool over;
static struct slot_ref place;

static void helper_leaves(UNUSED void *argument)
{
	one_group();
	for (size_t n = 0;; n++) {
		place = take();
		helper_acts(); /* the block is there */
		if (over)
			return;
		rt_barrier_wait(&turns);
		leaves();
		rt_barrier_wait(&turns);
		helper_acts(); /* until it has been looked at */
		comes_back(n);
	}
}

static void stepped(void (*call)(void), void (*helper)(void *), bool leaver)
{
	struct rt_thread *thread;
	size_t step = 0;
	bool more;

	turns = (struct rt_barrier){.count = 2};
	step_begin(helper_acts);
	ash_release(ash_alloc(1));
	if (leaver)
		one_group();
	thread = rt_thread_start(helper, NULL);
	do {
		if (leaver)
			place = take();
		else
			helper_acts();
		more = with_act_at(step, call);
		if (!more)
			helper_acts(); /* all the same, behind it */
		CHECK_EQ(place.slab->remote[place.group], 0);
		CHECK((place.slab->free[place.group] & place.bit) != 0);
		if (leaver)
			comes_back(step);
		else
			helper_acts();
		step++;
	} while (more);
	rt_print("     %zu boundaries\n", step);
	CHECK(step > 20);
	over = true;
	helper_acts();
	rt_thread_join(thread);
	CHECK_EQ(ash_check(), 0);
}

TEST_CALL(protocol_leaving_at_each_step_of_a_release, 60, stepped(releases, helper_leaves, false));

static void helper_releases(UNUSED void *argument)
{
	ash_release(ash_alloc(1));
	for (bool ends = false; !ends;) {
		rt_barrier_wait(&turns);
		ends = over; /* read here: behind the next wait it may be that of the next turn */
		if (!ends)
			releases();
		rt_barrier_wait(&turns);
	}
}

TEST_CALL(protocol_release_at_each_step_of_leaving, 60, stepped(leaves, helper_releases, true));
