/* SPDX-License-Identifier: MIT */
/* What tests of slabs and their records have in common. */
#ifndef TESTS_INNER_SLOTS_H
#define TESTS_INNER_SLOTS_H

#include "ashlar.h"
#include "front/slot.h"
#include "rt.h"

static inline struct slot_ref place_of(void *p)
{
	struct slot_ref at;

	CHECK(slot_find(map_find(p), p, &at));
	return at;
}

/* Spans where slabs were: the region stays, so the hint still leads to their records. */
enum { SPANS = 10 };
static inline void spans_over_slabs(void *spans[SPANS])
{
	void *blocks[2 * SPANS];

	for (size_t i = 0; i < 2 * SPANS; i++)
		blocks[i] = ash_alloc(SLOT_MAX);
	for (size_t i = 0; i < 2 * SPANS; i++)
		ash_release(blocks[i]);
	ash_trim(1);
	for (size_t i = 0; i < SPANS; i++)
		CHECK((spans[i] = ash_alloc(CHUNK_SIZE)) != NULL);
}

#endif
