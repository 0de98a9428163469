/* SPDX-License-Identifier: MIT */
/* The clock of keep.h, step by step; what makes it tick; and the watching that goes with it. */
#include "ashlar.h"
#include "backend/retain.h"
#include "thread/owner.h"
#include "inner/slots.h"
#include "thread/watch.h"
#include "thread/seat.h"
#include "thread/seating.h"

/* 320 units may stay, half of that is 160.  A heap without regions: nothing can be purged. */
static const struct ash_defaults options = {.retain = 320 * UNIT_SIZE};
static struct heap h = {.options = &options, .sharing = PAGES_PRIVATE};

TEST(inner_clock_begins_and_ends, 10)
{
	h.dirty = 320;
	CHECK(!retain_tick(&h, 1) && h.running == 0 && h.clock == 0);
	h.dirty = 321;
	h.clock = 77;
	CHECK(retain_tick(&h, 3) && h.running != 0 && h.clock == 3);
	CHECK(h.period_low == 321 && h.period_start == 321);
	h.dirty = 161;
	h.period_low = 1;
	CHECK(retain_tick(&h, 1) && h.running != 0 && h.clock == 4 && h.period_low == 1);
	h.dirty = 160;
	CHECK(!retain_tick(&h, 1) && h.running == 0 && h.clock == 4);
	h.refused = 10; /* cannot be had: as if there were so much less */
	h.dirty = 330;
	CHECK(!retain_tick(&h, 1));
	h.dirty = 331;
	CHECK(retain_tick(&h, 1));
	h.dirty = 171;
	CHECK(retain_tick(&h, 1));
	h.dirty = 170;
	CHECK(!retain_tick(&h, 1));
}

/* Of what was not needed throughout a period, half of `retain` stays. */
TEST(inner_clock_periods, 10)
{
	h.dirty = 500;
	CHECK(retain_tick(&h, 1));
	h.period_low = 300;
	h.clock = RETAIN_PERIOD - 2;
	h.running = CLOCK_RUNS;
	CHECK(retain_tick(&h, 1) && h.period_low == 300 && h.refused == 0);
	CHECK_EQ(h.running, CLOCK_RUNS);
	CHECK(retain_tick(&h, 1) && h.period_low == 500 && h.period_start == 500);
	CHECK_EQ(h.running, CLOCK_UNNOTIFIED);
	CHECK_EQ(h.refused, 500 - (500 - 300 + 160));
	/* The next one begins where this one ended, though some calls count more than one. */
	CHECK(h.clock % RETAIN_PERIOD == 0);
	h.refused = 0;
	h.period_low = 160; /* all of it was needed */
	CHECK(retain_tick(&h, RETAIN_PERIOD) && h.period_low == 500 && h.refused == 0);
	h.period_low = 161;
	CHECK(retain_tick(&h, RETAIN_PERIOD) && h.period_low == 500);
	CHECK_EQ(h.refused, 500 - (500 - 161 + 160));
	/* A low above what is kept by now tells nothing. */
	h.refused = 0;
	h.period_low = 501;
	CHECK(retain_tick(&h, RETAIN_PERIOD) && h.period_low == 500 && h.refused == 0);
	h.period_low = 500;
	CHECK(retain_tick(&h, RETAIN_PERIOD) && h.refused == 500 - 160);
}

TEST(inner_clock_fresh_is_paid_for, 10)
{
	h.dirty = 160;
	retain_fresh(&h, 10);
	CHECK_EQ(h.refused, 0);
	h.dirty = 165;
	retain_fresh(&h, 10);
	CHECK_EQ(h.refused, 5);
	h.refused = 0;
	h.dirty = 200;
	retain_fresh(&h, 10);
	CHECK_EQ(h.refused, 10);
	retain_fresh(&h, 30); /* 200 is not above 160 and 10 by 40: it is by 30 */
	CHECK_EQ(h.refused, 30);
	h.refused = 40;
	retain_fresh(&h, 10);
	CHECK_EQ(h.refused, 40);
}

/* The clock runs, and no period gives anything back. */
static void run_clock(void)
{
	heap_default.dirty += 1000000;
	heap_default.running = 1;
	heap_default.period_low = heap_default.period_start = 0;
	heap_default.clock = 0;
}

#define TICKS(expression)                                                                          \
	do {                                                                                       \
		uint64_t before = heap_default.clock;                                              \
		heap_default.period_low = 0;                                                              \
		expression;                                                                        \
		CHECK(heap_default.clock > before);                                                \
	} while (0)

TEST(inner_clock_ticks, 10)
{
	struct owner *o;
	char *p, *q;

	ash_release(ash_alloc(10));
	p = ash_alloc(CHUNK_SIZE * 4);
	q = ash_alloc(CHUNK_SIZE * 4);
	run_clock();
	TICKS(ash_release(ash_alloc(3000))); /* a bin was filled */
	TICKS(ash_release(p));
	TICKS(q = ash_resize(q, CHUNK_SIZE * 2));
	TICKS(ash_release(q));
	TICKS(ash_thread_detach()); /* units came back */
	/* A call of a thread that has a record and is in another call: it ticks, and the mark is for later. */
	ash_release(ash_alloc(10));
	p = ash_alloc(CHUNK_SIZE * 4);
	o = seat_take();
	o->watch = WATCH_NONE;
	heap_default.running = CLOCK_UNNOTIFIED;
	TICKS(ash_release(p));
	CHECK_EQ(o->watch, WATCH_NOTIFIED);
	CHECK_EQ(heap_default.running, CLOCK_RUNS); /* and other threads have been notified */
	seat_open();
	CHECK(seat.open == SEAT_OPEN);
}

TEST(inner_clock_tells_owners, 10)
{
	char *p = ash_alloc(100), *q = ash_alloc(100);
	struct slot_ref at = place_of(p);
	struct owner *o = seat.self;
	uint64_t inbox = 0;

	CHECK_EQ(o->watch, WATCH_NONE);
	heap_default.running = CLOCK_RUNS; /* another thread has notified them */
	watch_notify_all(&heap_default);
	CHECK_EQ(o->watch, WATCH_NONE);
	(void)seat_take();
	heap_default.running = CLOCK_UNNOTIFIED;
	watch_notify_all(&heap_default); /* we are in a call, and heed it at its end */
	seat_open();
	CHECK_EQ(o->watch, WATCH_NONE);
	CHECK_EQ(at.slab->owner & OWNER_PENDING, 0);
	heap_default.running = CLOCK_UNNOTIFIED;
	watch_notify_all(&heap_default);
	CHECK_EQ(o->watch, WATCH_NOTIFIED);
	CHECK_EQ(at.slab->owner & OWNER_PENDING, OWNER_PENDING);
	for (size_t i = 0; i < INBOX_WORDS; i++)
		inbox |= o->inbox[i];
	CHECK_EQ(inbox, (uint64_t)(uintptr_t)at.slab);
	/* Our next release is slow, and heeds it: the clock does not run. */
	ash_release(p);
	CHECK_EQ(o->watch, WATCH_NONE);
	CHECK_EQ(at.slab->owner & OWNER_PENDING, 0);
	watch_notify(o);
	watch_notify(o); /* told already */
	CHECK_EQ(o->watch, WATCH_NOTIFIED);
	run_clock();
	ash_release(q);
	CHECK_EQ(o->watch, WATCH_ALL);
	ash_thread_detach();
	o->watch = WATCH_NONE;
	watch_notify(o);
	CHECK_EQ(o->watch, WATCH_NONE); /* it is vacant */
}

/* A bin's group is not ready while the clock runs, so that releases into it are events. */
TEST(inner_clock_counts_events, 10)
{
	char *p[200], *q;
	struct slot_ref at;
	struct owner *o;
	struct bin *b;

	for (size_t i = 0; i < 200; i++)
		p[i] = ash_alloc(16);
	at = place_of(p[199]);
	o = seat.self;
	b = &o->bins[at.slab->class];
	CHECK(b->slab == at.slab && bin_word(o, b) == &at.slab->free[at.group]);
	ash_release(p[199]);
	CHECK_EQ((at.slab->ready >> at.group) & 1, 1);
	p[199] = ash_alloc(16);
	run_clock();
	watch_check(o);
	CHECK_EQ(o->watch, WATCH_ALL);
	CHECK_EQ((at.slab->ready >> at.group) & 1, 0);
	o->events = o->other_events = 0;
	for (size_t i = 0; i < 16; i++) {
		CHECK_EQ(heap_default.clock, 0);
		ash_release(p[199]);
		CHECK_EQ((at.slab->ready >> at.group) & 1, 0);
		CHECK_EQ(o->events, i + 1);
		q = ash_alloc(16);
		CHECK(q == p[199]);
	}
	CHECK_EQ(heap_default.clock, 16);
	/* Into another group: first that gets ready, then nothing is an event. */
	CHECK(place_of(p[0]).group != at.group);
	ash_release(p[0]);
	CHECK_EQ(o->other_events, 1);
	ash_release(p[1]);
	CHECK_EQ(o->other_events, 1);
	o->other_events = 1023;
	ash_release(p[64]);
	CHECK_EQ(heap_default.clock, 16 + 1024);
	/* The clock stops: what was not ready gets so with the next release. */
	heap_default.dirty = heap_default.running = 0;
	ash_release(p[199]);
	watch_check(o);
	CHECK_EQ(o->watch, WATCH_NONE);
	ash_release(p[198]);
	CHECK_EQ((at.slab->ready >> at.group) & 1, 1);
	CHECK_EQ(ash_check(), 0);
}

/* Where memory is locked nothing can be purged: whole regions go. */
TEST(inner_clock_where_memory_is_locked, 10)
{
	for (uint64_t locked = 0; locked < 2; locked++) {
		ash_release(ash_alloc(60 * MIB));
		CHECK(heap_default.reserved > 0);
		heap_default.dirty += 100000; /* as if; and nothing of it can be had */
		heap_default.locked = locked;
		heap_default.refused = 0;
		retain_fresh(&heap_default, 1);
		CHECK((heap_default.reserved == 0) == (locked != 0));
		heap_default.dirty -= 100000;
	}
	CHECK_EQ(ash_check(), 0);
}
