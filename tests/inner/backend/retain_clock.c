/* SPDX-License-Identifier: MIT */
/* The clock of retain.h, tick by tick: what is given back at once, and what a period purges. */
#include "ashlar.h"
#include "backend/retain.h"
#include "rt.h"

/* 320 units: a quarter of that is 80, an eighth 40.  A heap without regions: nothing can be purged. */
static const struct ash_defaults options = {.retain = 320 * UNIT_SIZE};
static const struct ash_defaults nothing = {.retain = 0};
static struct heap h = {.options = &options, .sharing = PAGES_PRIVATE, .peak.used = 10000};

/* Ticks.  What would be purged, and was refused; 0: nothing was to be. */
static uint64_t tick(uint64_t n)
{
	uint64_t refused;

	h.refused = 0;
	retain_tick(&h, n);
	refused = h.refused;
	h.refused = 0;
	return refused;
}

/* No tick leaves more than a quarter of `retain`, and what goes is an eighth more than has to. */
TEST(inner_clock_gives_back_at_once, 10)
{
	h.dirty = 10;
	CHECK_EQ(retain_room(&h, 0, false), 70);
	h.dirty = 80;
	CHECK(tick(1) == 0 && h.clock == 1 && retain_room(&h, 0, false) == 0);
	h.dirty = 81;
	CHECK_EQ(retain_room(&h, 0, false), 0);
	CHECK_EQ(tick(1), 81 - (80 - 40));
	CHECK_EQ(h.due, 80 - 40); /* the next slow operations go on until then */
	CHECK_EQ(h.clock, 1);	  /* the period goes on */
	/* Of a large heap a quarter may stay. */
	h.used = 4 * 200;
	h.dirty = 200;
	CHECK(tick(1) == 0 && retain_room(&h, 0, false) == 0);
	h.dirty = 201;
	CHECK_EQ(tick(1), 201 - (200 - 40));
	/* It is the heap that the released units leave. */
	h.dirty = 20;
	CHECK(retain_room(&h, 4 * 50, false) == 150 - 20 && retain_room(&h, 4 * 200, false) == 80 - 20 && retain_room(&h, 4 * 300, false) == 80 - 20);
	/* A sixteenth of spans with huge pages. */
	CHECK_EQ(retain_room(&h, 0, true), 80 - 20);
	h.used = 16 * 200;
	CHECK(retain_room(&h, 16 * 50, true) == 150 - 20 && retain_room(&h, 16 * 200, true) == 80 - 20 && retain_room(&h, 16 * 300, true) == 80 - 20);
	h.used = 4 * 200;
	/* What was refused is not tried again until more is retained. */
	h.refused = 10;
	h.dirty = 210;
	retain_tick(&h, 1);
	CHECK(h.refused == 10 && retain_room(&h, 0, false) == 0);
	h.dirty = 211;
	retain_tick(&h, 1);
	CHECK_EQ(h.refused, 211 - (200 - 40));
	/* Who wants nothing kept gets nothing kept. */
	h.options = &nothing;
	h.dirty = 1;
	CHECK_EQ(tick(1), 1);
	h.options = &options;
}

/* What is taken soon after it was given back may stay the next time, and as much again. */
TEST(inner_clock_demand_raises_the_floor, 10)
{
	h.clock = 77;
	heap_cleaned(&h, 0, 100); /* fresh, and nothing was given back */
	CHECK(h.floor == 0 && h.clock == 77);
	retain_gone(&h, 300, 100);
	/* Use that was never as high is growth. */
	h.peak.used = 10;
	heap_cleaned(&h, 0, 100);
	CHECK(h.floor == 0 && h.gone == 300);
	h.peak.used = 10000;
	h.used = 100;
	h.dirty = 70;
	heap_cleaned(&h, 50, 50); /* nothing of it is fresh */
	CHECK(h.floor == 0 && h.gone == 300 && h.clock == 77);
	heap_cleaned(&h, 20, 120); /* 100 of it are */
	CHECK(h.floor == 200 && h.gone == 200 && h.clock == 0);
	heap_cleaned(&h, 0, 150);
	CHECK(h.floor == 500 && h.gone == 50);
	heap_cleaned(&h, 0, 200);
	CHECK(h.floor == 600 && h.gone == 0);
	h.used = 0;
	h.dirty = 680;
	CHECK(tick(1) == 0 && retain_room(&h, 0, false) == 0);
	h.dirty = 681;
	CHECK_EQ(tick(1), 681 - (680 - 40));
	/* Fresh memory in spite of it: what is kept does not fit, so less is. */
	retain_fresh(&h, 10);
	CHECK(h.refused == 10 && h.floor == 600); /* nothing was purged */
	h.refused = 0;
}

/* It is for what comes above the least that was in use meanwhile; of spans with huge pages only what exceeds all that is in use. */
TEST(inner_clock_swing_is_for_what_comes_above, 10)
{
	h = (struct heap){.options = &options, .sharing = PAGES_PRIVATE, .peak.used = 10000};
	h.used = 1000;
	retain_gone(&h, 0, 900); /* nothing was purged */
	CHECK(h.gone == 0 && h.low == 0);
	retain_gone(&h, 500, 1000);
	retain_gone(&h, 500, 740);
	retain_gone(&h, 500, 600); /* within a quarter: as demand varies */
	CHECK(h.gone == 1500 && h.low == 740 && h.swing == 0);
	h.used = 800;
	heap_cleaned(&h, 0, 100);
	CHECK(h.swing == 200 && h.gone == 1400);
	heap_cleaned(&h, 0, 300); /* twice 460, or a half of 1200 */
	CHECK(h.swing == 800 && h.gone == 1100);
	heap_cleaned(&h, 0, 100);
	CHECK(h.swing == 1000 && h.gone == 1000);
	heap_cleaned(&h, 0, 100);
	CHECK(h.swing == 1200 && h.gone == 900);
	heap_cleaned(&h, 0, 20);
	CHECK(h.swing == 1240 && h.gone == 880);
	h.used = 100;
	heap_cleaned(&h, 0, 20); /* it stays what it was */
	CHECK(h.swing == 1240 && h.gone == 860);
	h.dirty = 0;
	h.used = 1100;
	CHECK(retain_room(&h, 0, true) == 140 && retain_room(&h, 100, true) == 240 && retain_room(&h, 0, false) == 275 + h.floor);
	h.used = 1300;
	CHECK_EQ(retain_room(&h, 0, true), 1300 / 16);
	/* All goes: the floor, too. */
	retain_gone(&h, 1, 554);
	CHECK(h.swing == 1240 - 186 && h.low == 554);
	h.gone = 0;
	retain_gone(&h, 1, 1200); /* a new low, as all that went had been taken again */
	CHECK(h.swing == 1240 - 186 && h.low == 1200);
	retain_gone(&h, 1, 100);
	CHECK(h.swing == 0 && h.low == 100);
	h = (struct heap){.options = &options, .sharing = PAGES_PRIVATE, .peak.used = 10000};
}

/* The floor falls by a half in each period that shows no demand. */
TEST(inner_clock_floor_falls, 10)
{
	h.used = 0;
	h.floor = 600;
	h.gone = 90;
	h.dirty = h.period_low = 60; /* less than may stay anyway */
	h.period_high = 0;
	h.clock = 0;
	CHECK(tick(RETAIN_PERIOD - 1) == 0 && h.floor == 600);
	CHECK(tick(1) == 0 && h.floor == 300 && h.gone == 45 && h.clock == 0);
	/* It does not fall below what was there and was needed for the most part. */
	h.period_low = 180;
	h.period_high = 370;
	h.dirty = 200;
	CHECK(tick(RETAIN_PERIOD) != 0 && h.floor == 300);
	h.period_low = 250;
	h.period_high = 400;
	CHECK(h.floor == 300);
	h.dirty = 300;
	CHECK_EQ(tick(RETAIN_PERIOD), 250 - 80); /* what nothing needed goes, but for a quarter of `retain` */
	CHECK_EQ(h.floor, 150);
	h.floor = 0;
}

/* Of the memory that was idle throughout a period, a sixteenth of `retain` stays. */
TEST(inner_clock_periods, 10)
{
	h.used = h.floor = h.clock = 0;
	h.dirty = 70;
	h.period_low = 50;
	CHECK(tick(RETAIN_PERIOD - 1) == 0 && h.period_low == 50);
	h.period_high = 500; /* of the last period: not of the next one */
	CHECK_EQ(tick(1), 50 - 20);
	CHECK(h.clock == 0 && h.period_low == 70 && h.period_start == 70 && h.period_high == 70);
	h.period_low = 20; /* all of it was needed */
	CHECK(tick(RETAIN_PERIOD) == 0 && h.period_low == 70);
	h.used = 4 * 40; /* a quarter of that may stay */
	CHECK_EQ(tick(RETAIN_PERIOD), 70 - 40);
	/* A minimum above what is dirty by now is ignored. */
	h.period_low = 71;
	CHECK(tick(RETAIN_PERIOD) == 0 && h.period_low == 70);
	h.used = 0;
	/* What was refused is not tried again while no more than that and a sixteenth was idle. */
	h.period_low = 28;
	h.refused = 10;
	retain_tick(&h, RETAIN_PERIOD);
	CHECK_EQ(h.refused, 10);
	h.refused = 0;
	/* Of what was kept at most, slabs are a part that others emptied. */
	h.idle.kept_before = 30 * UNIT_SIZE;
	CHECK(tick(1) == 0 && h.period_high == 70 + 30);
	h.idle.kept_before = 0;
}

TEST(inner_clock_fresh_is_paid_for, 10)
{
	h.used = 0;
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
	h.refused = 0;
}
