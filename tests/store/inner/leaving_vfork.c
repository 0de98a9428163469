/* SPDX-License-Identifier: MIT */
/* A process that is only borrowed: children of vfork in a shared heap. */
#include "store/inner/leaving.h"
#include "support/blocks.h"

static void vfork_and_go_on(void)
{
	struct owner *before = seats_self(heap_of(heap));

	vfork_works();
	/* An emulator makes it a fork: that child has a record of its own. */
	CHECK_EQ(recovered_by_another(), rt_under_qemu() ? 1 : 0);
	CHECK(seats_self(heap_of(heap)) == before);
	work(9);
	CHECK(seats_self(heap_of(heap)) != NULL);
	CHECK(*left != NULL);
	ash_heap_release(heap, *left);
	CHECK_EQ(recovered_by_another(), 0);
	CHECK_EQ(ash_heap_check(heap), 0);
}

static void check_empty(void)
{
	CHECK_EQ(stats_of(heap).blocks, 1); /* `left` */
}

/* The first call of the thread is its child's. */
TEST(inner_away_vfork_first, 20)
{
	heap_make();
	vfork_and_go_on();
	vfork_and_go_on();
	check_empty();
}

TEST(inner_away_vfork_of_child, 20)
{
	heap_make();
	work(3);
	IN_CHILD
		vfork_and_go_on();
	CHECK_EQ(ash_heap_recover(heap), 1);
	check_empty();
}

static void in_thread(UNUSED void *argument)
{
	vfork_and_go_on();
}

TEST(inner_away_vfork_of_thread, 20)
{
	heap_make();
	work(1);
	rt_in_thread(in_thread, NULL);
	CHECK_EQ(ash_heap_check(heap), 0);
}
