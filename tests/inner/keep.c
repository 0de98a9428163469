/* SPDX-License-Identifier: MIT */
/* The words that decide what is given back, and when (core/backend/retain.h). */
#include "ashlar.h"
#include "backend/heap.h"
#include "rt.h"

/* Who takes a few units of many, again and again, does not put the end of the period off. */
TEST(keep_few_units_begin_no_period, 10)
{
	struct heap *h = &heap_default;

	h->dirty = h->low = h->from = 4096;
	h->clock = 5000;
	for (int i = 0; i < 6; i++) {
		heap_cleaned(h, 10);
		CHECK_EQ(h->low, h->dirty);
		CHECK_EQ(h->clock, 5000);
	}
	heap_cleaned(h, 10);
	CHECK_EQ(h->clock, 0);
	CHECK_EQ(h->from, 4026);
	/* What came meanwhile and went again was not needed of what was there. */
	h->clock = 5000;
	heap_dirtied(h, 1000);
	heap_cleaned(h, 1000);
	CHECK_EQ(h->clock, 5000);
	/* Of very many, 4 MiB are not a few. */
	h->dirty = h->low = h->from = 1000000;
	heap_cleaned(h, 128);
	CHECK_EQ(h->clock, 5000);
	heap_cleaned(h, 1);
	CHECK_EQ(h->clock, 0);
	h->dirty = 0;
}
