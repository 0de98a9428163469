/* SPDX-License-Identifier: MIT */
/*
 * Racing double free: two threads release one block at the same time.  One of
 * them wins; the other release is reported, once, by the thread that finds it.  The
 * report does not end the program here (program/race.h).
 */
/* promises: ash_release, ash_thread_detach */
#include "front/slot.h"
#include "program/race.h"
#include "thread/seat.h"

/* ---- both are strangers to the slab ---- */

static void strangers(size_t size, size_t n, bool collecting)
{
	struct rt_thread *racers[2];

	race.size = size;
	batches_begin(n);
	race.barrier.count = 3;
	racers[0] = rt_thread_start(racer_body, NULL);
	racers[1] = rt_thread_start(racer_body, &race);
	for (size_t i = 0; i < race.batches; i++) {
		batches_go_on(i);
		batch_make();
		rt_barrier_wait(&race.barrier);
		while (collecting && atomic_load(&race.racing)) {
			collect();
			arch_sched_yield(); /* three threads, perhaps two CPUs */
		}
		rt_barrier_wait(&race.barrier);
		/* One who looked before a collection and released after it is found by the next. */
		collect();
		batch_check();
	}
	rt_thread_join(racers[0]);
	rt_thread_join(racers[1]);
	end();
}

TEST(race_of_two_strangers, 60)
{
	strangers(48, batches(3000), false);
	CHECK_EQ(late_reports, 0); /* at once, by the second one */
	strangers(5000, batches(1000), false);
}

TEST(race_of_two_strangers_while_the_owner_collects, 60)
{
	strangers(48, batches(500), true);
	strangers(5000, batches(100), true);
}

/* ---- the owner against a stranger ---- */

static void owner_and_stranger(size_t size, size_t n)
{
	struct rt_thread *stranger;

	race.size = size;
	batches_begin(n);
	race.barrier.count = 2;
	stranger = rt_thread_start(racer_body, &race);
	for (size_t i = 0; i < race.batches; i++) {
		batches_go_on(i);
		batch_make();
		rt_barrier_wait(&race.barrier);
		race_as(0);
		rt_barrier_wait(&race.barrier);
		collect();
		batch_check();
	}
	rt_thread_join(stranger);
	end();
}

TEST(race_of_owner_and_stranger, 60)
{
	owner_and_stranger(48, batches(3500));
	owner_and_stranger(5000, batches(500));
}

/* The stranger has set its bit and not yet the mark when the owner releases: both win. */
static void both_win(size_t size)
{
	struct slot_ref at;

	race.size = size;
	batch_make();
	CHECK(slot_find(map_find(race.blocks[0]), race.blocks[0], &at));
	fetch_or_seq_cst(&at.slab->remote[at.group], at.bit);
	release(race.blocks[0]);
	CHECK_EQ(atomic_load(&race.reports[0]), 0);
}

TEST(race_that_both_win_is_told_by_the_next_collection, 10)
{
	both_win(48);
	collect();
	CHECK_EQ(late_reports, 1);
	CHECK_EQ(atomic_load(&race.reports[0]), 1);
	collect();
	CHECK_EQ(late_reports, 1);
	CHECK_EQ(ash_check(), 0);
}

TEST(race_that_both_win_is_told_when_the_slab_goes, 10)
{
	both_win((size_t)40 << 10); /* a slab of its own */
	if (jump_set(back) == 0)
		ash_thread_detach();
	seat_mend();
	CHECK_EQ(atomic_load(&race.reports[0]), 1);
}

/* ---- the owner is gone: who releases visits ---- */

static void leave_body(UNUSED void *argument)
{
	batch_make();
}

TEST(race_for_what_a_thread_left, 60)
{
	race.size = 48;
	race.batches = 1;
	race.barrier.count = 2;
	for (size_t i = 0; i < batches(1000); i++) {
		struct rt_thread *racers[2];
		struct owner *o;

		rt_in_thread(leave_body, NULL);
		racers[0] = rt_thread_start(racer_body, NULL);
		racers[1] = rt_thread_start(racer_body, &race);
		rt_thread_join(racers[0]);
		rt_thread_join(racers[1]);
		/* A report in the middle of a visit left the record held. */
		for (o = heap_default.owners; o != NULL; o = o->next)
			if (o->state == OWNER_HELD)
				owner_vacate(o);
		collect(); /* as its next thread */
		batch_check();
		ash_thread_detach();
	}
}
