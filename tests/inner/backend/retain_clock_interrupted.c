/* SPDX-License-Identifier: MIT */
/*
 * The clock of retain.h begins in the release of a span: its thread takes the current groups' ready bits
 * away.  A handler comes at an instruction of that, and releases into another group of the same slab.
 */
#include "backend/retain.h"
#include "inner/slots.h"
#include "support/handler_at_step.h"
#include "thread/seating.h"

/* The second class of all: watch_all comes to it soon. */
enum { SIZE = 16, BLOCKS = 2 * GROUP_SLOTS + 2, DIRTY = 1000000, BOUNDARIES = 400 };

static char *block[BLOCKS];
static size_t closed; /* how often the seat was, when the handler came */

static void release_first(void)
{
	closed += seat.open == 0;
	ash_release(block[0]);
}

/* The first block is taken again, from a group that is full and not ready. */
static void take_first(struct slot_ref at)
{
	struct owner *o = seat_take();

	collect_slab(o, at.slab);
	CHECK_EQ(at.slab->free[at.group], at.bit);
	CHECK_EQ(at.slab->remote[at.group], 0);
	at.slab->free[at.group] = 0;
	at.slab->ready &= ~((uint32_t)1 << at.group);
	seat_open();
}

TEST(clock_begins_while_a_handler_releases, 30)
{
	struct slot_ref at;
	size_t k;

	alloc_each(block, BLOCKS, SIZE);
	at = place_of(block[0]);
	CHECK(at.group == 0 && place_of(block[BLOCKS - 1]).group == 2 && at.slab->ready == 0);
	step_begin(release_first);
	for (k = 0; k < BOUNDARIES; k++) {
		seat.self->watch = false;
		heap_default.running = 0;
		heap_default.dirty += DIRTY; /* invented, and all of it may stay */
		heap_default.floor = 2 * DIRTY;
		if (!with_act_at(k, watch_tick))
			release_first();
		heap_default.dirty -= DIRTY;
		CHECK(heap_default.running != 0 && seat.open == SEAT_OPEN);
		CHECK_EQ(ash_check(), 0);
		CHECK_EQ(stats_now().blocks, BLOCKS - 1);
		take_first(at);
	}
	CHECK(closed > 20 && closed < BOUNDARIES);
}
