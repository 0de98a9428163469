/* SPDX-License-Identifier: MIT */
/* The clock of retain.h, tick by tick: when it runs, and what a period purges. */
#include "ashlar.h"
#include "backend/retain.h"
#include "rt.h"

/* 320 units may stay, half of that is 160.  A heap without regions: nothing can be purged. */
static const struct ash_defaults options = {.retain = 320 * UNIT_SIZE};
static const struct ash_defaults nothing = {.retain = 0};
static struct heap h = {.options = &options, .sharing = PAGES_PRIVATE};

/* Ticks; true: the clock runs. */
static bool ticks(struct heap *of, uint64_t n)
{
	retain_tick(of, n);
	return of->running != 0;
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
