/* SPDX-License-Identifier: MIT */
/* Two threads that give memory back at the same time, one of them by a handler of the other's. */
#include "backend/retain.h"
#include "base/layout.h"
#include "support/handler_at_step.h"

DOES(trim, (void)heap_trim(&heap_default, 0));

/* The chunk is free and dirty. */
static void retain_one(void)
{
	void *p = NOT_NULL(ash_alloc(CHUNK_SIZE));

	*(volatile char *)p = 1;
	ash_release(p);
	CHECK_EQ(heap_default.dirty, CHUNK_UNITS);
}

/*
 * A chunk that one thread purged, after the other found it dirty and before that claimed it, is
 * counted once: else `dirty` falls below 0.
 */
TEST(protocol_trim_by_two, 60)
{
	bool more = true;
	size_t k;

	step_begin(trim);
	/* Between the two looks lie more than three instructions. */
	for (k = 0; more; k += rt_in_full() ? 1 : 3) {
		retain_one();
		more = with_act_at(k, trim);
		CHECK_EQ(heap_default.dirty, 0);
		CHECK_EQ(ash_check(), 0);
	}
	CHECK(k > 100);
}
