/* SPDX-License-Identifier: MIT */
/*
 * The cost of the first call of a forked child: one walk over the heap, however many records have
 * to be rebuilt, and no write to slabs of records that are right.
 */
#include "pages.h"
#include "support/another.h"
#include "support/handler_at_step.h"
#include "thread/seat.h"

enum { OWN = 60, SLABS = 100, LARGE = 300000, FEW = 2, MORE = 8, MANY = 24 };

static size_t slabs_each;

/* A thread that has its slabs, and vanishes in the child. */
static void has_slabs(void)
{
	for (size_t i = 0; i < slabs_each; i++)
		CHECK(ash_alloc(LARGE) != NULL);
	ash_release(ash_alloc(100));
}

DOES(first_call, CHECK(ash_alloc(9000) != NULL));

/* All other records as if their threads stopped while they changed lists. */
static void all_are_building(void)
{
	for (struct owner *o = heap_default.owners; o != NULL; o = o->next)
		if (o != seat.self)
			o->building = 1;
}

/* The instructions of a child's first call. */
static size_t steps_of_first_call(size_t *shared)
{
	IN_CHILD {
		all_are_building();
		*shared = steps_of(first_call);
		CHECK_EQ(ash_check(), 0);
	}
	return *shared;
}

TEST(fork_cost_is_one_walk, 60)
{
	size_t *shared = pages_reserve(PAGE_MOST, PAGE_MOST, PAGES_SHARED), threads, few, many;

	trap_need();
	for (size_t i = 0; i < OWN; i++)
		CHECK(ash_alloc(LARGE) != NULL);
	for (threads = 0; threads < FEW; threads++)
		another_stays(has_slabs);
	few = steps_of_first_call(shared);
	for (; threads < MORE; threads++)
		another_stays(has_slabs);
	many = steps_of_first_call(shared);
	rt_print("     %zu instructions for %u records, %zu for %u\n", few, FEW, many, MORE);
	CHECK(few > 10000);
	CHECK(many < 3 * few);
}

TEST(fork_cost_is_no_copy_of_the_heap, 60)
{
	size_t *shared = pages_reserve(PAGE_MOST, PAGE_MOST, PAGES_SHARED), faults;

	if (rt_under_qemu())
		rt_skip("an emulator has faults of its own");
	slabs_each = SLABS;
	(void)ash_alloc(100);
	for (size_t i = 0; i < MANY; i++)
		another_stays(has_slabs);
	IN_CHILD {
		faults = rt_faults();
		CHECK(ash_alloc(9000) != NULL);
		*shared = rt_faults() - faults;
		CHECK_EQ(ash_check(), 0);
	}
	rt_print("     %zu faults for %u records of %u slabs\n", *shared, MANY, SLABS);
	/* The records themselves have a few pages each. */
	CHECK(*shared < MANY * SLABS / 4);
}
