/* SPDX-License-Identifier: MIT */
/* Which threads may take over which records after a fork, as the records' states show. */
#include "inner/spares.h"
#include "process.h"
#include "support/another.h"
#include "thread/refill.h"
#include "thread/seating.h"

static struct owner *first, *other;
static struct rt_barrier together;

/* Of the parent, there until the fork is over. */
static void parents_thread(void)
{
	ash_release(ash_alloc(100));
	other = seat.self;
}

/* Needs a slab, so it notices the fork; but it did not fork. */
static void childs_thread(UNUSED void *argument)
{
	ash_release(ash_alloc(5000));
	CHECK(load_acquire(&first->state) != OWNER_VACANT);
	CHECK(load_acquire(&other->state) != OWNER_VACANT);
	CHECK_EQ(heap_default.settled, 0);
	/* Its own record is of the next generation, and will not look lost. */
	CHECK_EQ(seat.self->state >> OWNER_STAMP, 1);
	rt_barrier_wait(&together);
	rt_barrier_wait(&together);
	CHECK(load_acquire(&seat.self->state) != OWNER_VACANT);
}

TEST(fork_is_settled_by_the_thread_that_forked, 20)
{
	struct rt_thread *thread;

	if (rt_under_qemu())
		rt_skip("QEMU 7.2 aborts when a forked child of a threaded process starts a thread");
	ash_release(ash_alloc(100));
	first = seat.self;
	holder_note(first);
	another_stays(parents_thread);
	IN_CHILD {
		together = (struct rt_barrier){.count = 2};
		thread = rt_thread_start(childs_thread, NULL);
		rt_barrier_wait(&together);
		ash_release(ash_alloc(9000));
		CHECK_EQ(heap_default.settled, 1);
		CHECK_EQ(load_acquire(&other->state), OWNER_VACANT);
		CHECK_EQ(first->state >> OWNER_STAMP, 1);
		CHECK_EQ(first->identity, process_note()); /* not the parent's ids */
		CHECK_EQ(ash_check(), 0);
		rt_barrier_wait(&together);
		rt_thread_join(thread);
	}
	/* Nothing of this happened here. */
	CHECK_EQ(heap_default.settled, 0);
	CHECK(load_acquire(&other->state) != OWNER_VACANT);
	another_goes();
}

static void has_a_spare(void)
{
	ash_release(ash_alloc(5000));
	other = seat.self;
	CHECK_EQ(spares_number(other), 1);
}

/*
 * The record of a vanished thread becomes vacant, and has no spares then: adopt_slabs does not
 * look for any, so one that went to another record would be given back from under its owner.
 */
TEST(fork_spare_of_a_vanished_thread_is_none, 20)
{
	unsigned class = class_of(5000);

	ash_release(ash_alloc(100));
	another_stays(has_a_spare);
	IN_CHILD {
		struct slab *spare = spares_newest(other);
		char *p;

		ash_release(ash_alloc(9000));
		CHECK_EQ(load_acquire(&other->state), OWNER_VACANT);
		CHECK_EQ(spares_number(other), 0);
		(void)seat_take();
		adopt_slabs(seat.self, class, ADOPT_ALL);
		seat_open();
		CHECK(!owner_has(other, spare));
		p = ash_alloc(5000);
		CHECK(p != NULL && ash_trim(0) < SIZE_MAX && ash_check() == 0);
		ash_release(p);
		CHECK_EQ(ash_check(), 0);
	}
	another_goes();
}
