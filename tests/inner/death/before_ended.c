/* SPDX-License-Identifier: MIT */
/* Heaps in which a process died in the middle of everything. */
#include "inner/death/before.h"

#include "backend/region.h"
#include "backend/units.h"
#include "front/span.h"
#include "heaps/instance.h"
#include "store/recover/building.h"
#include "store/recover/seats.h"
#include "slab/unowned.h"

static void die_over_units(void)
{
	before_three();
	(void)building_begin(heap(), seats_self(heap()));
	CHECK(units_claim(heap(), 3, true, false).chunk != NULL);
}

static void die_over_chunks(void)
{
	before_three();
	(void)building_begin(heap(), seats_self(heap()));
	CHECK(region_claim(heap(), 3, 1, false).region != NULL);
}

static void die_over_span(void)
{
	before_three();
	(void)building_begin(heap(), seats_self(heap()));
	CHECK(span_alloc(heap(), (size_t)3 << 20, 1, false) != NULL);
}

static void die_over_slot_unowned(void)
{
	before_three();
	(void)building_begin(heap(), NULL);
	CHECK(unowned_slot(heap(), class_of(death_size)) != NULL);
}

static void die_unmaking_unowned(void)
{
	struct slab *s;

	before_record();
	(void)building_begin(heap(), seats_self(heap()));
	CHECK(unowned_slot(heap(), class_of(death_size)) != NULL);
	s = heap()->unowned[class_of(death_size)];
	s->free[0] = 0;
	s->owner |= OWNER_CHANGING;
}

static void die_over_record(void)
{
	(void)building_begin(heap(), NULL);
	CHECK(store_owner(heap()) != NULL);
}

static void die_over_slot(void)
{
	struct owner *o;

	before_three();
	o = seats_self(heap());
	truth_of(o)->flight = (uint64_t)(uintptr_t)ash_heap_alloc(death_heap, death_size);
}

static void die_over_extend(void)
{
	before_three();
	(void)building_begin(heap(), seats_self(heap()));
	heap()->regions->chunks = DEATH_CHUNKS; /* and the bits are not set yet */
}

/* In a heap of this state a process does this and ends. */
#define ENDED(name, state, work)       \
	void name(void)                \
	{                              \
		state();               \
		death_by_ended(work);  \
	}
ENDED(ended_over_units, before_record, die_over_units)
ENDED(ended_over_chunks, before_record, die_over_chunks)
ENDED(ended_over_span, before_record, die_over_span)
ENDED(ended_over_slot_unowned, before_record, die_over_slot_unowned)
ENDED(ended_over_record, before_record, die_over_record)
ENDED(ended_over_slot, before_record, die_over_slot)
ENDED(ended_unmaking_unowned, before_record, die_unmaking_unowned)
ENDED(ended_over_extend, before_extend, die_over_extend)
