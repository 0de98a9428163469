/* SPDX-License-Identifier: MIT */
/*
 * A thread that ended without a word.  Apart, as a program with it is not linked with Ashlar for
 * one thread (tests/check/system.sh).
 */
/* promises: ash_system_thread_ended */
#include "ashlar_system.h"
#include "support/blocks.h"

static uint32_t gone; /* its id, as the system tells it */

bool ash_system_thread_ended(uint32_t thread)
{
	return thread == __atomic_load_n(&gone, __ATOMIC_ACQUIRE);
}

static uint32_t id;
static _Atomic int stage;

static void vanish(UNUSED void *argument)
{
	for (size_t i = 0; i < 1000; i++)
		ash_release(ash_alloc(i));
	id = ash_system_thread();
	stage = 1;
	/* To Ashlar it has ended; it makes no call any more. */
	while (stage == 1)
		rt_yield();
	rt_exit(0);
}

TEST(system_thread_ended, 20)
{
	struct ash_statistics before, after;

	ash_release(ash_alloc(1));
	ash_stats(&before);
	CHECK(rt_thread_start(vanish, NULL) != NULL);
	while (stage == 0)
		rt_yield();
	ash_stats(&after);
	CHECK_EQ(after.owners, before.owners + 1);
	CHECK(after.slabs > before.slabs);
	/* The thread lives: its memory is not taken. */
	(void)ash_trim(0);
	CHECK(stats_now().slabs > before.slabs);
	__atomic_store_n(&gone, id, __ATOMIC_RELEASE);
	(void)ash_trim(0);
	CHECK(stats_now().slabs <= before.slabs);
	CHECK_EQ(ash_check(), 0);
}
