/* SPDX-License-Identifier: MIT */
/*
 * Reaping the record of a holder that vanished while it changed its lists: they are rebuilt
 * before anything is looked up in them.
 */
#include "inner/thread/reap_killed.h"
#include "process.h"
#include "syscall.h"
#include "thread/seating.h"

static struct rt_barrier both = {.count = 2};

static void stop_beside_another(void *mine)
{
	ash_release(ash_alloc(1));
	rt_barrier_wait(&both); /* else one would take over the other one's record */
	*(struct owner **)mine = stop_between_two_spares();
	rt_barrier_wait(&both);
	(void)arch_exit(0);
}

/* The lists of each are rebuilt first, the second one's too. */
TEST(reap_of_two_stopped_threads_rebuilds_both, 10)
{
	struct owner *stopped[2];
	struct rt_thread *threads[2];
	unsigned i;

	ash_release(ash_alloc(1));
	for (i = 0; i < 2; i++)
		threads[i] = rt_thread_start(stop_beside_another, &stopped[i]);
	rt_threads_join(threads, 2);
	CHECK((stopped[0]->building & 1) != 0 && (stopped[1]->building & 1) != 0);
	CHECK_EQ(reap_all(&heap_default, seat.self), 2);
	CHECK(stopped[0]->state == OWNER_VACANT && stopped[1]->state == OWNER_VACANT);
	CHECK_EQ(ash_check(), 0);
	no_chunk_is_free_twice(&heap_default);
	ash_trim(0);
	CHECK_EQ(heap_default.dirty, 0);
}
