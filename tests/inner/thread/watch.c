/* SPDX-License-Identifier: MIT */
/* What makes the clock of retain.h tick, and how owners watch. */
#include "backend/retain.h"
#include "inner/slots.h"
#include "support/handler_at_step.h"
#include "thread/seating.h"

/* The clock runs, and no period purges anything. */
static void run_clock(void)
{
	heap_default.dirty += 1000000;
	heap_default.floor = 2000000;
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
	/* A call that interrupts a call of the same thread ticks, and leaves its record alone. */
	ash_release(ash_alloc(10));
	p = ash_alloc(CHUNK_SIZE * 4);
	o = seat_take();
	o->watch = false;
	TICKS(ash_release(p));
	CHECK(!o->watch);
	seat_open();
	CHECK(seat.open == SEAT_OPEN);
}

/* A slot that was written and released while the thread watches is zeroed, in whatever group; the bin's is not ready. */
TEST(inner_clock_cleans_what_was_written, 10)
{
	enum { SIZE = 304, BLOCKS = 3 * GROUP_SLOTS };
	static char *p[BLOCKS];
	struct slot_ref at;

	ash_release(ash_alloc(10));
	run_clock();
	ash_release(ash_alloc(3000));
	CHECK(seat.self->watch);
	for (size_t i = 0; i < BLOCKS; i++) {
		ash_release(memset(NOT_NULL(ash_alloc(SIZE)), 1, SIZE));
		p[i] = ash_zalloc(1, SIZE);
		CHECK(p[i] != NULL && p[i][0] == 0 && p[i][SIZE - 1] == 0);
	}
	release_each((void **)p, BLOCKS);
	for (size_t i = 0; i < BLOCKS; i++) {
		at = place_of(ash_alloc(SIZE));
		CHECK(seat.self->watch && (at.slab->ready >> at.group & 1) == 0);
	}
}

/* Each large block is a slow operation, also if no unit changes hands. */
TEST(inner_clock_counts_large_blocks, 10)
{
	uint64_t clock;

	ash_release(ash_alloc(40000));
	clock = load_relaxed(&heap_default.clock);
	for (unsigned i = 1; i <= 5; i++) {
		ash_release(ash_alloc(40000));
		CHECK_EQ(load_relaxed(&heap_default.clock), clock + i);
	}
}

/* A thread learns at its next slow operation that the clock runs, or no longer does. */
TEST(inner_clock_tells_owners, 10)
{
	char *p = ash_alloc(100);
	struct slot_ref at = place_of(p);
	struct owner *o = seat.self;

	CHECK(!o->watch);
	run_clock(); /* another thread started it */
	ash_release(ash_alloc(3000));
	CHECK(o->watch && ((at.slab->ready >> at.group) & 1) == 0);
	heap_default.dirty = heap_default.running = 0;
	ash_release(ash_alloc(40000));
	CHECK(!o->watch);
	ash_release(p);
	CHECK_EQ((at.slab->ready >> at.group) & 1, 1);
}

/* While the clock runs, the group of a bin is not ready, so that releases into it are events. */
TEST(inner_clock_counts_events, 10)
{
	char *p[200], *q;
	struct slot_ref at;
	struct owner *o;
	struct bin *b;

	alloc_each(p, 200, 16);
	at = place_of(p[199]);
	o = seat.self;
	b = &o->bins[at.slab->class];
	CHECK(b->slab == at.slab && bin_word(o, b) == &at.slab->free[at.group]);
	ash_release(p[199]);
	CHECK_EQ((at.slab->ready >> at.group) & 1, 1);
	p[199] = ash_alloc(16);
	run_clock();
	watch_check(o);
	CHECK(o->watch);
	CHECK_EQ((at.slab->ready >> at.group) & 1, 0);
	o->events = o->other_events = 0;
	for (size_t i = 0; i < 16; i++) {
		CHECK_EQ(heap_default.clock, 0);
		ash_release(p[199]);
		CHECK_EQ((at.slab->ready >> at.group) & 1, 0);
		CHECK_EQ(o->events, (i + 1) % 16 * EVENTS_STEP + (i == 15) * EVENTS_STEP);
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
	CHECK(!o->watch);
	ash_release(p[198]);
	CHECK_EQ((at.slab->ready >> at.group) & 1, 1);
	CHECK_EQ(ash_check(), 0);
}

/* A release that is an event only because the clock runs makes its group dirty as any other does. */
TEST(clock_short_event_makes_dirty, 10)
{
	struct slot_ref at;
	char *p;

	ash_release(ash_alloc(16));
	run_clock();
	watch_check(seat.self);
	CHECK(seat.self->watch);
	seat.self->events = 0;
	p = ash_zalloc(1, 208);
	at = place_of(p);
	CHECK_EQ((at.slab->dirty >> at.group) & 1, 0);
	memset(p, 1, 208);
	ash_release(p);
	CHECK_EQ(seat.self->events, EVENTS_STEP);
	CHECK(ash_zalloc(1, 208) == p);
	for (size_t i = 0; i < 208; i++)
		CHECK_EQ(p[i], 0);
	ash_release(p);
	CHECK_EQ(ash_check(), 0);
}

/* ---- the clock begins in the release of a span, and a handler releases into another group of a slab ---- */

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

/* Its thread takes the current groups' ready bits away: a handler comes at an instruction of that. */
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
