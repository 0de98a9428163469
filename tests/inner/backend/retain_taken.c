/* SPDX-License-Identifier: MIT */
/* The clock of retain.h on the default heap: what goes and what is taken again is counted, also where memory is locked. */
#include "ashlar.h"
#include "backend/map.h"
#include "backend/retain.h"
#include "rt.h"
#include "thread/bin.h"
#include "thread/seat.h"

/* What goes is counted, unit by unit: at a tick it may raise the floor, where it is paid for it lowers it. */
TEST(inner_clock_counts_what_goes, 10)
{
	enum { CHUNKS = 30 };
	struct heap *d = &heap_default;
	struct run last = {NULL, CHUNKS - 1};
	uint64_t dirty;
	char *p, *q;

	for (int fresh = 0; fresh < 2; fresh++) {
		p = ash_alloc(20 * CHUNK_SIZE);
		q = ash_alloc(10 * CHUNK_SIZE);
		last.region = region_of(d, p);
		CHECK(last.region == region_of(d, q) && last.region->chunks == CHUNKS);
		memset(p, 1, 20 * CHUNK_SIZE);
		memset(q, 1, 10 * CHUNK_SIZE);
		d->floor = d->swing = 100000; /* all of it stays */
		ash_release(p);
		ash_release(q);
		dirty = d->dirty;
		CHECK(dirty == CHUNKS * CHUNK_UNITS && d->gone == 0);
		if (fresh) {
			retain_fresh(d, 100);
			CHECK_EQ(d->floor, 100000 - (dirty - d->dirty));
		} else {
			d->floor = 500;
			retain_tick(d, 1);
			CHECK_EQ(d->gone, dirty - d->dirty);
			d->gone = d->due_at = d->floor = d->swing = 0;
		}
		/* The newest chunk goes first. */
		CHECK(d->dirty < dirty && region_dirty(last, 1) == 0);
		(void)ash_trim(0);
		CHECK_EQ(d->dirty, 0);
	}
}

/* A run of `dirty` retained chunks and `fresh` ones is taken: only the latter are paid for. */
static void takes(size_t dirty, size_t fresh)
{
	struct heap *d = &heap_default;
	char *p = ash_alloc(dirty * CHUNK_SIZE), *other = ash_alloc(30 * CHUNK_SIZE);
	struct region *r = region_of(d, p);

	CHECK(r != region_of(d, other) && p == r->base && r->chunks >= dirty + fresh);
	d->floor = d->swing = 100000;
	memset(p, 1, dirty * CHUNK_SIZE);
	memset(other, 1, 30 * CHUNK_SIZE);
	ash_release(other);
	ash_release(p);
	CHECK_EQ(d->dirty, (30 + dirty) * CHUNK_UNITS);
	CHECK(ash_alloc((dirty + fresh) * CHUNK_SIZE) == p);
	CHECK_EQ(d->dirty, (30 - fresh) * CHUNK_UNITS);
	ash_release(p);
	(void)ash_trim(0);
	(void)region_trim(d, false);
	CHECK_EQ(d->reserved, 0);
}

TEST(inner_clock_takes_some_fresh, 10)
{
	takes(32, 4);
	takes(32, 16);
}

/* Of a run that keeps its head a trim takes that, too. */
TEST(inner_clock_trim_takes_heads, 10)
{
	char *p = ash_zalloc(1, 4 * CHUNK_SIZE);

	p[0] = 1;
	ash_release(p);
	CHECK_EQ(heap_default.dirty, CHUNK_UNITS);
	CHECK(ash_trim(0) > 0);
	CHECK_EQ(heap_default.dirty, 0);
	p = ash_alloc(4 * CHUNK_SIZE);
	CHECK_EQ(p[0], 0);
	ash_release(p);
}

/* A span's region goes with it where memory is locked, from the least that has one; ends of others stay. */
TEST(inner_clock_unmaps_locked_spans, 10)
{
	struct heap *d = &heap_default;
	char *p = ash_alloc(20 * CHUNK_SIZE), *q = ash_alloc(24 * CHUNK_SIZE);
	struct region *r = region_of(d, p);

	CHECK(r->chunks == 30 && region_of(d, q)->chunks == 36);
	d->locked = 1;
	ash_release(q);
	CHECK(d->reserved == 30 && r->chunks == 30);
	q = ash_alloc(SPAN_REGION * CHUNK_SIZE);
	CHECK(region_of(d, q) != r);
	d->locked = 1;
	ash_release(q);
	CHECK(d->reserved == 30 && r->chunks == 30);
	d->dirty += 100000; /* invented: none of it can be purged */
	retain_fresh(d, 1);
	CHECK(d->reserved == 30 && r->chunks == 30);
	d->dirty -= 100000;
	d->locked = 0;
	ash_release(p);
	CHECK_EQ(ash_check(), 0);
}

/* Locked memory cannot be purged: only whole regions are unmapped. */
TEST(inner_clock_where_memory_is_locked, 10)
{
	for (uint64_t locked = 0; locked < 2; locked++) {
		ash_release(ash_alloc(60 * MIB));
		(void)heap_trim(&heap_default, 0); /* nothing of it is retained */
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

/* ---- the words that decide what is given back, and when ---- */

/* A thread that takes a few of many units, again and again, does not postpone the end of the period. */
TEST(keep_few_units_begin_no_period, 10)
{
	struct heap *h = &heap_default;

	h->period_low = h->period_start = h->dirty = 4096;
	h->clock = 5000;
	for (int i = 0; i < 6; i++) {
		heap_cleaned(h, 10, 0);
		CHECK_EQ(h->period_low, h->dirty);
		CHECK_EQ(h->clock, 5000);
	}
	heap_cleaned(h, 4, 0); /* a 64th */
	CHECK_EQ(h->clock, 5000);
	heap_cleaned(h, 1, 0);
	CHECK_EQ(h->clock, 0);
	CHECK_EQ(h->period_start, 4031);
	/* What came meanwhile and went again was not needed of what was there. */
	h->clock = 5000;
	heap_dirtied(h, 1000, 0);
	heap_cleaned(h, 1000, 0);
	CHECK_EQ(h->clock, 5000);
	/* Of very many, 4 MiB are not a few. */
	h->period_low = h->period_start = h->dirty = 1000000;
	heap_cleaned(h, 128, 0);
	CHECK_EQ(h->clock, 5000);
	heap_cleaned(h, 1, 0);
	CHECK_EQ(h->clock, 0);
	h->dirty = 0;
}

static void count_sixteen(void *clock)
{
	struct heap *h = &heap_default;

	ash_release(ash_alloc(10));
	h->dirty += 1000000;
	h->floor = 2000000;
	h->period_low = h->period_start = h->clock = 0;
	for (unsigned i = 0; i < 16; i++)
		owner_count(seat.self);
	*(uint64_t *)clock = h->clock;
	h->dirty -= 1000000;
}

/* Operations of a thread beyond the heap's first one count a sixteenth, and still count. */
TEST(keep_later_threads_count_less, 10)
{
	uint64_t first, later = 0;

	count_sixteen(&first);
	CHECK(seat.self->next == NULL);
	rt_in_thread(count_sixteen, &later);
	CHECK_EQ(first, 16);
	CHECK_EQ(later, 1);
}
