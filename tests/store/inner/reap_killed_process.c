/* SPDX-License-Identifier: MIT */
/* The record of a killed process is rebuilt before anything is looked up in its lists. */
#include "inner/thread/reap_killed.h"
#include "store/process/life.h"

TEST(reap_of_a_killed_process_rebuilds_first, 10)
{
	heap = NOT_NULL(ash_heap_create_shared((size_t)16 << 20, NULL));
	if (life_of_thread() >> 22 == 0)
		rt_skip("lives of ended threads cannot be judged without /proc");
	IN_KILLED_CHILD
		(void)stop_between_two_spares();
	CHECK(ash_heap_recover(heap) > 0);
	CHECK_EQ(ash_heap_check(heap), 0);
	no_chunk_is_free_twice(heap_of(heap));
	(void)ash_heap_trim(heap, 0);
	CHECK(rt_under_qemu() || heap_of(heap)->dirty == 0); /* QEMU purges no shared memory */
}
