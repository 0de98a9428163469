/* SPDX-License-Identifier: MIT */
/*
 * The heap's counters against the objects that they count.  They are hints, so nothing breaks at once
 * when a counter drifts; but retention depends on them (retain.h).  There is one thread, so they are exact.
 */
#include "backend/region.h"
#include "backend/retain.h"
#include "front/span.h"
#include "support/blocks.h"
#include "thread/seating.h"

#define LARGE (5 * CHUNK_SIZE)

static size_t slab_chunks(void)
{
	size_t n = 0;

	for (struct region *r = heap_default.regions; r != NULL; r = r->next)
		for (size_t i = 0; r->state == REGION_LIVE && i < r->chunks; i++)
			n += chunk_is(region_chunk(r, i), CHUNK_SLABS);
	return n;
}

/* Chunks whose advice differs from that of the chunk before: each begins a mapping. */
static size_t borders(void)
{
	size_t n = 0;

	for (struct region *r = heap_default.regions; r != NULL; r = r->next)
		for (size_t i = 1; r->state == REGION_LIVE && i < r->chunks; i++)
			n += ((r->advice[i] ^ r->advice[i - 1]) & ~ADVICE_FLAGS) != 0;
	return n;
}

/* Only chunks of slabs have free units, and the hint is not less than the longest run. */
static void hints_name_slab_chunks(void)
{
	for (struct region *r = heap_default.regions; r != NULL; r = r->next)
		for (size_t i = 0; r->state == REGION_LIVE && i < r->chunks; i++)
			if (chunk_is(region_chunk(r, i), CHUNK_SLABS))
				CHECK(region_room(r)[i] >= bits_longest(region_chunk(r, i)->units));
			else
				CHECK_EQ(region_room(r)[i], 0);
}

static void agree(void)
{
	struct ash_statistics st;

	ash_stats(&st);
	CHECK_EQ(st.dirty, heap_default.dirty * UNIT_SIZE);
	CHECK_EQ(st.slabs + st.spans, heap_default.used * UNIT_SIZE);
	CHECK_EQ(st.reserved, heap_default.reserved * CHUNK_SIZE);
	peaks_hold(&st);
	CHECK_EQ(slab_chunks(), heap_default.slab_chunks);
	CHECK_EQ(borders(), heap_default.borders);
	hints_name_slab_chunks();
	CHECK_EQ(ash_check(), 0);
}

/* Peaks are of the moment when the most was there, and stay. */
TEST(inner_counts_peaks, 10)
{
	struct ash_statistics most, st;
	void *p;

	ash_release(NOT_NULL(ash_alloc(32 * MIB)));
	p = NOT_NULL(ash_alloc(64 * MIB));
	ash_stats(&most);
	CHECK_EQ(most.peak_used, most.slabs + most.spans);
	CHECK_EQ(most.peak_kept, most.slabs + most.spans + most.dirty);
	CHECK_EQ(most.peak_reserved, most.reserved);
	ash_release(p);
	(void)ash_trim(0);
	ash_release(NOT_NULL(ash_alloc(LARGE)));
	ash_stats(&st);
	CHECK(st.reserved < most.reserved && st.slabs + st.spans < most.peak_used);
	CHECK_EQ(st.peak_used, most.peak_used);
	CHECK_EQ(st.peak_kept, most.peak_kept);
	CHECK_EQ(st.peak_reserved, most.peak_reserved);
	/* Units that turn out to be dirty are kept. */
	heap_soiled(&heap_default, 1 << 20);
	ash_stats(&st);
	CHECK_EQ(st.peak_kept, ((size_t)heap_default.used + heap_default.dirty) * UNIT_SIZE);
}

enum { MANY = 4000 };
static char *many[MANY];

TEST(inner_counts_small, 20)
{
	for (unsigned round = 0; round < 4; round++) {
		for (size_t i = 0; i < MANY; i++)
			many[i] = ash_alloc(16 + i % 2000);
		agree();
		for (size_t i = round % 2; i < MANY; i += 2) {
			ash_release(many[i]);
			many[i] = NULL;
		}
		agree();
		(void)ash_trim(round * MIB);
		agree();
		release_each(many, MANY);
		agree();
		(void)ash_trim(round == 1 ? SIZE_MAX : round);
		agree();
	}
	(void)ash_trim(0);
	agree();
}

TEST(inner_counts_medium, 20)
{
	for (unsigned round = 0; round < 3; round++) {
		for (size_t i = 0; i < 200; i++) {
			many[i] = ash_alloc(5000 + i * 3000);
			memset(many[i], 1, 5000);
		}
		agree();
		for (size_t i = 0; i < 200; i++)
			ash_release(many[i * 7 % 200]);
		agree();
		(void)ash_trim(round);
		agree();
	}
}

TEST(inner_counts_spans, 20)
{
	char *p = ash_alloc(LARGE), *q = ash_zalloc(1, 2 * LARGE), *r;

	agree();
	CHECK(p != NULL && q != NULL);
	memset(p, 1, LARGE);
	memset(q, 1, 2 * LARGE);
	ash_release(p);
	agree();
	p = ash_alloc(2 * CHUNK_SIZE);
	agree();
	q = ash_resize(q, LARGE);
	agree();
	q = ash_resize(q, 3 * LARGE);
	agree();
	q = ash_resize(q, 30 * LARGE);
	agree();
	r = ash_zalloc(1, LARGE);
	for (size_t i = 0; i < LARGE; i += 4096)
		CHECK_EQ(r[i], 0);
	agree();
	ash_release(p);
	ash_release(q);
	agree();
	(void)ash_trim(1);
	agree();
	ash_release(r);
	(void)ash_trim(0);
	agree();
}

/* A trim returns the number of bytes by which resident memory shrinks. */
TEST(inner_counts_of_trims, 10)
{
	char *p[6];
	size_t before;

	for (size_t i = 0; i < 6; i++) {
		p[i] = ash_alloc((i + 2) * MIB / 2);
		memset(p[i], 1, (i + 2) * MIB / 2);
	}
	for (size_t i = 0; i < 6; i++) {
		ash_release(p[i]);
		ash_thread_detach();
		before = heap_default.dirty;
		CHECK_EQ(heap_trim(&heap_default, i % 3 * MIB),
			 (before - heap_default.dirty) * UNIT_SIZE);
		CHECK(i % 3 != 0 || heap_default.dirty == 0);
		agree();
	}
	before = heap_default.dirty;
	CHECK_EQ(heap_trim(&heap_default, 0), before * UNIT_SIZE);
	CHECK_EQ(heap_default.dirty, 0);
	CHECK_EQ(heap_trim(&heap_default, 0), 0);
}

/* When a region is unmapped its dirty units are no longer counted, as for locked memory. */
TEST(inner_counts_of_regions_that_go, 10)
{
	char *p = ash_alloc(2 * LARGE), *q = ash_alloc(LARGE);

	CHECK(p != NULL && q != NULL);
	memset(p, 1, 2 * LARGE);
	memset(q, 1, LARGE);
	heap_default.floor = 2 * LARGE / UNIT_SIZE; /* so one of the two stays */
	ash_release(p);
	ash_release(q);
	agree();
	CHECK(heap_default.dirty > 0);
	CHECK(region_trim(&heap_default, false) > 0);
	agree();
	CHECK_EQ(heap_default.dirty, 0);
	CHECK_EQ(heap_default.reserved, 0);
}

/* Advice of every kind side by side, in a heap that has them all: H of region.h. */
TEST(inner_counts_advice, 20)
{
	char *p[12];

	for (size_t i = 0; i < 12; i++) {
		p[i] = NOT_NULL(i % 3 == 0 ? ash_alloc((40 + i) * MIB) : ash_zalloc(1, (4 + i) * MIB));
		agree();
	}
	for (size_t i = 0; i < 12; i += 2) {
		ash_release(p[i]);
		agree();
	}
	for (size_t i = 0; i < 12; i += 2) {
		p[i] = ash_alloc((3 + i) * MIB);
		agree();
	}
	for (size_t i = 0; i < 12; i++) {
		p[i] = ash_resize(p[i], (2 + i * 7 % 12) * MIB);
		agree();
	}
	for (size_t i = 0; i < 12; i++) {
		p[i] = ash_resize(p[i], (20 + i) * MIB);
		agree();
	}
	release_each(p, 12);
	agree();
	(void)ash_trim(0);
	agree();
}

static void thread_body(UNUSED void *argument)
{
	for (size_t i = 0; i < MANY; i++)
		many[i] = ash_alloc(100 + i % 3000);
	for (size_t i = 0; i < MANY; i += 3)
		ash_release(many[i]);
}

/* Slabs of an ended thread whose blocks another thread releases, and unowned slabs. */
TEST(inner_counts_of_ended_threads, 20)
{
	struct owner *o;

	rt_in_thread(thread_body, NULL);
	agree();
	for (size_t i = 0; i < MANY; i++)
		if (i % 3 != 0)
			ash_release(many[i]);
	agree();
	o = seat_take();
	for (size_t i = 0; i < 300; i++)
		many[i] = ash_alloc(1000 + i);
	agree();
	release_each(many, 300);
	agree();
	CHECK(o != NULL);
	seat_open();
	(void)ash_trim(1);
	agree();
	CHECK_EQ(heap_default.unowned_made, heap_default.unowned_gone);
}
