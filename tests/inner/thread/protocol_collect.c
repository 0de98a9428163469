/* SPDX-License-Identifier: MIT */
/* Moments of collecting: a full inbox, a walk over spares. */
#include "inner/slots.h"
#include "support/another.h"
#include "support/stamp.h"
#include "thread/seating.h"

/* The inbox is full: the slabs without an entry are looked for. */
TEST(protocol_more_entries_than_the_inbox_holds, 10)
{
	enum { SLABS = 3 * INBOX_SLABS, SIZE = 20000 };
	void *blocks[SLABS * 5];
	struct slab *seen = NULL;
	unsigned turns;
	struct ash_statistics st;
	struct owner *o;
	size_t i, n;

	alloc_each(blocks, SLABS * 5, SIZE);
	/* All is released as if by another thread. */
	o = seat_take();
	for (i = 0; i < SLABS * 5; i++) {
		ash_release(blocks[i]);
		seen = place_of(blocks[i]).slab;
		CHECK((seen->owner & OWNER_PENDING) != 0);
	}
	CHECK((o->notified & INBOX_LOST) != 0);
	collect_inbox(o);
	CHECK(stats_now().pending != 0);
	CHECK(o->lost != 0);
	for (turns = 0; o->lost != 0; turns++) {
		CHECK(turns < 10);
		collect_lost(o, 5); /* a class without slabs */
	}
	seat_open();
	ash_stats(&st);
	nothing_is_left();
	/* Slabs that got empty went back, but for the few spares. */
	n = st.slabs;
	CHECK(n <= 2 * SPARE_UNITS * UNIT_SIZE);
	stamp_check_nothing_left();
}

enum { LEFT = 15 * INBOX_SLABS, LEFT_SIZE = 20000 };
static void *left[LEFT];

DOES(takes_many, alloc_each(left, LEFT, LEFT_SIZE));

/* A thread that ends looks for the slabs that its full inbox does not name: nobody does so later. */
TEST(protocol_full_inbox_of_a_thread_that_ends, 10)
{
	ash_release(ash_alloc(1));
	another_stays(takes_many);
	for (size_t i = 0; i < LEFT; i += 2) /* no group gets free, so that nobody visits the slabs */
		ash_release(left[i]);
	another_goes();
	CHECK_EQ(stats_now().pending, 0);
	CHECK_EQ(ash_check(), 0);
	for (size_t i = 1; i < LEFT; i += 2)
		ash_release(left[i]);
	nothing_is_left();
}

static void release_some(void *const *blocks, size_t n)
{
	while (n > 0)
		ash_release(blocks[--n]);
}

/*
 * A walk over [first, spare, last]: first gets empty and is a spare, too; that
 * must not drive out the old one, where the walk goes on.
 */
TEST(protocol_walk_over_a_spare, 10)
{
	enum { SIZE = 20000, SLOTS = 6 };
	static const size_t others[] = {18000, 24000, 30000, 17000, 22000};
	enum { OTHERS = sizeof others / sizeof others[0] };
	void *blocks[4 * SLOTS], *other[SLOTS], *few[OTHERS + 1][2];
	struct owner *o;
	struct slab *s;

	/* The first slabs of a class are smaller: they stay full. */
	for (size_t i = 0; i < OTHERS; i++)
		alloc_each(few[i], 2, others[i]);
	alloc_each(few[OTHERS], 2, SIZE);
	alloc_each(blocks, 4 * SLOTS, SIZE);
	s = place_of(blocks[0]).slab;
	CHECK_EQ(s->slots, SLOTS);
	CHECK(s == place_of(blocks[SLOTS - 1]).slab);
	release_some(blocks, 1);
	release_some(blocks + SLOTS, SLOTS);
	release_some(blocks + 2 * SLOTS, 1);
	CHECK(place_of(blocks[SLOTS + 1]).slab->spare);
	/* The spares' places are all taken. */
	for (size_t i = 0; i < OTHERS; i++) {
		s = place_of(blocks[SLOTS + 1]).slab;
		if (!s->spare || seat.self->spare_units >= SPARE_UNITS)
			break;
		alloc_each(other, 4, others[i]);
		release_some(other, 4);
	}
	CHECK(place_of(blocks[SLOTS + 1]).slab->spare && seat.self->spare_units >= SPARE_UNITS);
	o = seat_take();
	release_some(blocks + 1, SLOTS - 1);
	release_some(blocks + 2 * SLOTS + 1, 1);
	/* The inbox entries are lost. */
	memset(o->inbox, 0, sizeof o->inbox);
	shrink_all(o);
	seat_open();
	CHECK_EQ(stats_now().pending, 0);
	CHECK_EQ(ash_check(), 0);
	release_some(blocks + 2 * SLOTS + 2, 2 * SLOTS - 2);
	for (size_t i = 0; i <= OTHERS; i++)
		release_some(few[i], 2);
	stamp_check_nothing_left();
}
