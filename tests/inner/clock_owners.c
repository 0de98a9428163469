/* SPDX-License-Identifier: MIT */
/* What makes the clock of retain.h tick, and how owners are notified of it and watch. */
#include "ashlar.h"
#include "backend/retain.h"
#include "inner/slots.h"
#include "thread/owner.h"
#include "thread/seat.h"
#include "thread/seating.h"
#include "thread/watch.h"

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

TEST(inner_clock_tells_owners, 10)
{
	char *p = ash_alloc(100), *q = ash_alloc(100);
	struct slot_ref at = place_of(p);
	struct owner *o = seat.self;
	uint64_t inbox = 0;

	CHECK_EQ(o->watch, WATCH_NONE);
	heap_default.running = CLOCK_RUNS; /* another thread has notified them */
	watch_notify_some(&heap_default);
	CHECK_EQ(o->watch, WATCH_NONE);
	(void)seat_take();
	heap_default.running = CLOCK_UNNOTIFIED;
	watch_check(o); /* this thread is in a call: it watches, and gets no notice */
	CHECK_EQ(heap_default.running, CLOCK_RUNS);
	CHECK_EQ(o->watch, WATCH_ALL);
	CHECK_EQ(at.slab->owner & OWNER_PENDING, 0);
	heap_default.running = 0;
	watch_check(o);
	seat_open();
	CHECK_EQ(o->watch, WATCH_NONE);
	heap_default.running = CLOCK_UNNOTIFIED;
	watch_notify_some(&heap_default);
	CHECK_EQ(o->watch, WATCH_NOTIFIED);
	CHECK_EQ(at.slab->owner & OWNER_PENDING, OWNER_PENDING);
	for (size_t i = 0; i < INBOX_WORDS; i++)
		inbox |= o->inbox[i];
	CHECK_EQ(inbox, (uint64_t)(uintptr_t)at.slab);
	/* The next release is slow and looks at the mark: the clock does not run. */
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

enum { SLEEPERS = 80, NOTIFIED_AT_ONCE = 32 };
static uint32_t asleep, awake;

static void sleep_body(__attribute__((unused)) void *argument)
{
	ash_release(ash_alloc(100));
	__atomic_fetch_add(&asleep, 1, __ATOMIC_SEQ_CST);
	while (__atomic_load_n(&awake, __ATOMIC_SEQ_CST) == 0)
		rt_sleep(1000000);
}

static unsigned notified(void)
{
	unsigned n = 0;

	for (struct owner *v = heap_default.owners; v != NULL; v = v->next)
		n += load_relaxed(&v->watch) == WATCH_NOTIFIED;
	return n;
}

/* No call notifies more than a few; calls that follow go on where it stopped, and at last all know. */
TEST(inner_clock_notifies_in_batches, 20)
{
	struct rt_thread *t[SLEEPERS];
	unsigned before, now = 0, calls = 0;

	ash_release(ash_alloc(100));
	for (size_t i = 0; i < SLEEPERS; i++)
		CHECK((t[i] = rt_thread_start(sleep_body, NULL)) != NULL);
	while (__atomic_load_n(&asleep, __ATOMIC_SEQ_CST) < SLEEPERS)
		rt_sleep(1000000);
	CHECK_EQ(notified(), 0);
	watch_switch(seat_take(), true); /* so it gets no notice */
	heap_default.running = CLOCK_UNNOTIFIED;
	do {
		before = now;
		watch_notify_some(&heap_default);
		now = notified();
		calls++;
		CHECK(now > before && now - before <= NOTIFIED_AT_ONCE);
		CHECK(CLOCK_NOTIFIES(heap_default.running) == (now < SLEEPERS));
	} while (heap_default.running != CLOCK_RUNS);
	CHECK_EQ(now, SLEEPERS);
	CHECK(calls > 2);
	/* Stopped half way, it begins with the newest owner when it is started again. */
	for (struct owner *v = heap_default.owners; v != NULL; v = v->next)
		if (load_relaxed(&v->watch) == WATCH_NOTIFIED)
			store_relaxed(&v->watch, WATCH_NONE);
	heap_default.running = CLOCK_UNNOTIFIED;
	watch_notify_some(&heap_default);
	heap_default.running = 0;
	watch_notify_some(&heap_default);
	CHECK(notified() <= NOTIFIED_AT_ONCE);
	heap_default.running = CLOCK_UNNOTIFIED;
	for (unsigned i = 0; i < calls; i++)
		watch_notify_some(&heap_default);
	CHECK_EQ(notified(), SLEEPERS);
	CHECK_EQ(heap_default.running, CLOCK_RUNS);
	heap_default.running = 0;
	watch_check(seat.self);
	seat_open();
	__atomic_store_n(&awake, 1, __ATOMIC_SEQ_CST);
	for (size_t i = 0; i < SLEEPERS; i++)
		rt_thread_join(t[i]);
	CHECK_EQ(ash_check(), 0);
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
	CHECK_EQ(o->watch, WATCH_NONE);
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
	CHECK_EQ(seat.self->watch, WATCH_ALL);
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
