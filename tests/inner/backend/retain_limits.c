/* SPDX-License-Identifier: MIT */
/* The words that decide what is given back, and when (core/backend/retain.h). */
#include "ashlar.h"
#include "backend/retain.h"
#include "rt.h"
#include "thread/bin.h"
#include "thread/seat.h"

/* Who takes a few units of many, again and again, does not put the end of the period off. */
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
	h->running = 1;
	h->period_low = h->period_start = h->clock = 0;
	for (unsigned i = 0; i < 16; i++)
		watch_count(seat.self, 2);
	*(uint64_t *)clock = h->clock;
	h->dirty -= 1000000;
	h->running = 0;
}

/* Operations of a thread beyond the heap's first one count a sixteenth, and still count. */
TEST(keep_later_threads_count_less, 10)
{
	uint64_t first, later = 0;

	count_sixteen(&first);
	CHECK(seat.self->next == NULL);
	rt_in_thread(count_sixteen, &later);
	CHECK_EQ(first, 32);
	CHECK_EQ(later, 2);
}
