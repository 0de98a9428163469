/* SPDX-License-Identifier: MIT */
/* The clock of retain.h, tick by tick: what makes it tick, and how threads are notified of it. */
#include "ashlar.h"
#include "backend/retain.h"
#include "thread/owner.h"
#include "inner/slots.h"
#include "thread/watch.h"
#include "thread/seat.h"
#include "thread/seating.h"

/* 320 units may stay, half of that is 160.  A heap without regions: nothing can be purged. */
static const struct ash_defaults options = {.retain = 320 * UNIT_SIZE};
static const struct ash_defaults nothing = {.retain = 0};
static struct heap h = {.options = &options, .sharing = PAGES_PRIVATE};

/* Ticks, and is looked at; true: the clock runs. */
static bool ticks(struct heap *of, uint64_t n)
{
	uint64_t before = of->clock;

	retain_tick(of, n);
	if ((before ^ (before + n)) < RETAIN_LOOK)
		retain_look(of); /* else it did */
	return of->running != 0;
}

/* Slow operations look at the clock once in RETAIN_LOOK; those that may free chunks do at once. */
TEST(inner_clock_is_looked_at, 10)
{
	h.dirty = 321;
	for (uint64_t n = 1; n < RETAIN_LOOK; n++) {
		retain_tick(&h, 1);
		CHECK(h.clock == n && h.running == 0);
	}
	retain_tick(&h, 1);
	CHECK(h.clock == 0 && h.running != 0);
	h.dirty = 320;
	retain_tick(&h, RETAIN_LOOK); /* as many units that were given back */
	CHECK_EQ(h.running, 0);
	h.dirty = 321;
	retain_freed(&h);
	CHECK(h.clock == 0 && h.running != 0);
	h.dirty = h.running = 0;
}

TEST(inner_clock_begins_and_ends, 10)
{
	h.dirty = 320;
	CHECK(!ticks(&h, 1) && h.running == 0 && h.clock == 1);
	h.dirty = 321;
	h.clock = 77;
	CHECK(ticks(&h, 3) && h.running != 0 && h.clock == 0);
	CHECK(h.period_low == 321 && h.period_start == 321);
	h.period_low = 1;
	CHECK(ticks(&h, 1) && h.running != 0 && h.clock == 1 && h.period_low == 1);
	h.dirty = 320;
	CHECK(!ticks(&h, 1) && h.running == 0 && h.clock == 0 && h.period_low == 320);
	h.refused = 10; /* refused to be purged: not counted as dirty */
	h.dirty = 330;
	CHECK(!ticks(&h, 1));
	h.dirty = 331;
	CHECK(ticks(&h, 1));
	h.dirty = 330;
	CHECK(!ticks(&h, 1));
	h.refused = 0;
}

/* Of a large heap a quarter may stay, in all places where half of `retain` or `retain` may. */
TEST(inner_clock_a_quarter_may_stay, 10)
{
	h.used = 4 * 320 + 3;
	h.dirty = 320;
	CHECK(!ticks(&h, 1));
	h.dirty = 321;
	CHECK(ticks(&h, 1));
	h.used += 1;
	CHECK(!ticks(&h, 1) && h.running == 0);
	h.used = 4000;
	h.dirty = 1000;
	CHECK(!ticks(&h, 1));
	h.dirty = 1001;
	CHECK(ticks(&h, 1));
	CHECK(ticks(&h, RETAIN_PERIOD) && h.refused == 1); /* down to 1000 */
	h.refused = 0;
	h.dirty = 1000;
	retain_fresh(&h, 10);
	CHECK_EQ(h.refused, 0);
	h.dirty = 1005;
	retain_fresh(&h, 10);
	CHECK_EQ(h.refused, 5);
	h.refused = 0;
	/* Who wants nothing kept gets nothing kept. */
	h.options = &nothing;
	h.dirty = 1;
	CHECK(ticks(&h, 1));
	h.options = &options;
	h.used = 0;
	h.running = 0;
}

/* Units that are in use, free and dirty, and clean are told apart. */
TEST(inner_clock_counts_units_in_use, 10)
{
	uint32_t used = heap_default.used, dirty;
	char *p = ash_alloc(100000), *q;

	CHECK_EQ(heap_default.used, used + 4);
	ash_release(p);
	ash_thread_detach();
	CHECK_EQ(heap_default.used, used);
	q = ash_alloc(3 * CHUNK_SIZE);
	CHECK_EQ(heap_default.used, used + 3 * CHUNK_UNITS);
	CHECK(q != NULL);
	memset(q, 1, 3 * CHUNK_SIZE);
	dirty = heap_default.dirty;
	ash_release(q);
	CHECK_EQ(heap_default.used, used);
	CHECK_EQ(heap_default.dirty, dirty + 3 * CHUNK_UNITS);
	(void)ash_trim(0);
	CHECK_EQ(heap_default.used, used);
	CHECK_EQ(heap_default.dirty, 0);
}

/* Of the memory that was idle throughout a period, half of `retain` stays. */
TEST(inner_clock_periods, 10)
{
	h.dirty = 500;
	CHECK(ticks(&h, 1));
	h.period_low = 300;
	h.clock = RETAIN_PERIOD - 2;
	h.running = CLOCK_RUNS;
	CHECK(ticks(&h, 1) && h.period_low == 300 && h.refused == 0);
	CHECK_EQ(h.running, CLOCK_RUNS);
	CHECK(ticks(&h, 1) && h.period_low == 500 && h.period_start == 500);
	CHECK_EQ(h.running, CLOCK_UNNOTIFIED);
	CHECK_EQ(h.refused, 500 - (500 - 300 + 160));
	/*
	 * The next period begins where this one ended, although some calls count more than one
	 * tick.
	 */
	CHECK(h.clock % RETAIN_PERIOD == 0);
	h.refused = 0;
	h.period_low = 160; /* all of it was needed */
	CHECK(ticks(&h, RETAIN_PERIOD) && h.period_low == 500 && h.refused == 0);
	h.period_low = 161;
	CHECK(ticks(&h, RETAIN_PERIOD) && h.period_low == 500);
	CHECK_EQ(h.refused, 500 - (500 - 161 + 160));
	/* A minimum above what is dirty by now is ignored. */
	h.refused = 0;
	h.period_low = 501;
	CHECK(ticks(&h, RETAIN_PERIOD) && h.period_low == 500 && h.refused == 0);
	h.period_low = 500;
	CHECK(ticks(&h, RETAIN_PERIOD) && h.refused == 500 - 160);
}

/* If no more than `retain` is retained, a sixteenth of `retain` stays, and owners do not watch. */
TEST(inner_clock_periods_of_little, 10)
{
	h.used = 0;
	h.dirty = h.period_low = 300;
	h.clock = RETAIN_PERIOD - 2;
	CHECK(!ticks(&h, 1) && h.refused == 0);
	CHECK(!ticks(&h, 1) && h.clock == 0);
	CHECK_EQ(h.refused, 300 - 20);
	h.refused = 0;
	h.period_low = 20; /* all of it was needed */
	CHECK(!ticks(&h, RETAIN_PERIOD) && h.period_low == 300 && h.refused == 0);
	h.used = 400; /* a quarter of that may stay */
	CHECK(!ticks(&h, RETAIN_PERIOD) && h.refused == 300 - 100);
	h.refused = 0;
	/* Between the two rules a period begins; what was counted before it does not matter. */
	h.dirty = 321;
	h.clock = RETAIN_PERIOD - 1;
	CHECK(ticks(&h, 1) && h.clock == 0 && h.refused == 0);
	h.dirty = 20;
	CHECK(!ticks(&h, RETAIN_PERIOD) && h.refused == 0);
	h.used = 0;
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

/* The clock runs, and no period purges anything. */
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
	/* A call that interrupts a call of the same thread ticks; the mark is looked at later. */
	ash_release(ash_alloc(10));
	p = ash_alloc(CHUNK_SIZE * 4);
	o = seat_take();
	o->watch = WATCH_NONE;
	heap_default.running = CLOCK_UNNOTIFIED;
	TICKS(ash_release(p));
	CHECK_EQ(o->watch, WATCH_NOTIFIED);
	CHECK_EQ(heap_default.running, CLOCK_RUNS); /* other threads have been notified */
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
	watch_notify_all(&heap_default); /* this thread is in a call, and looks at the mark at its end */
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
	/* The next release is slow and looks at the mark, and the count at the clock: it does not run. */
	heap_default.clock = RETAIN_LOOK - 1;
	ash_release(p);
	CHECK_EQ(o->watch, WATCH_NONE);
	CHECK_EQ(at.slab->owner & OWNER_PENDING, 0);
	watch_notify(o);
	watch_notify(o); /* notified already */
	CHECK_EQ(o->watch, WATCH_NOTIFIED);
	run_clock();
	ash_release(q);
	CHECK_EQ(o->watch, WATCH_ALL);
	ash_thread_detach();
	o->watch = WATCH_NONE;
	watch_notify(o);
	CHECK_EQ(o->watch, WATCH_NONE); /* it is vacant */
}

/* While the clock runs, the group of a bin is not ready, so that releases into it are events. */
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
	/* Releases into another group: the first one makes it ready, further ones are no events. */
	CHECK(place_of(p[0]).group != at.group);
	ash_release(p[0]);
	CHECK_EQ(o->other_events, 1);
	ash_release(p[1]);
	CHECK_EQ(o->other_events, 1);
	o->other_events = 1023;
	ash_release(p[64]);
	CHECK_EQ(heap_default.clock, 16 + 1024);
	/* The clock stops: the group becomes ready with the next release. */
	heap_default.dirty = heap_default.running = 0;
	ash_release(p[199]);
	watch_check(o);
	CHECK_EQ(o->watch, WATCH_NONE);
	ash_release(p[198]);
	CHECK_EQ((at.slab->ready >> at.group) & 1, 1);
	CHECK_EQ(ash_check(), 0);
}

/* Nor is a slot that was released meanwhile believed to read zero. */
TEST(inner_clock_and_zeroed_blocks, 10)
{
	char *p = ash_alloc(16), *q;
	struct slab *s = place_of(p).slab;

	CHECK_EQ(s->dirty, 0);
	memset(p, 1, 16);
	run_clock();
	watch_check(seat.self);
	ash_release(p);
	CHECK_EQ(s->ready, 0);
	q = ash_zalloc(1, 16);
	CHECK(q == p);
	for (unsigned i = 0; i < 16; i++)
		CHECK_EQ(q[i], 0);
	heap_default.dirty = heap_default.running = 0;
	CHECK_EQ(ash_check(), 0);
}

/* Locked memory cannot be purged: only whole regions are unmapped. */
TEST(inner_clock_where_memory_is_locked, 10)
{
	for (uint64_t locked = 0; locked < 2; locked++) {
		ash_release(ash_alloc(60 * MIB));
		CHECK(heap_default.reserved > 0);
		heap_default.dirty += 100000; /* invented: none of it can be purged */
		heap_default.locked = locked;
		heap_default.refused = 0;
		retain_fresh(&heap_default, 1);
		CHECK((heap_default.reserved == 0) == (locked != 0));
		heap_default.dirty -= 100000;
	}
	CHECK_EQ(ash_check(), 0);
}
