/* SPDX-License-Identifier: MIT */
/* What goes before the calls on paths without a record, and where a process died in the middle of everything. */
#include "store/death/before.h"
#include "front/span.h"
#include "slab/unowned.h"
#include "store/recover/builders.h"
#include "store/recover/recover.h"
#include "heaps/seats.h"
#include "thread/seating.h"
#include "thread/settle.h"

/* The record is checked out: calls take the unowned slabs, as in a handler. */
void before_check_out(void)
{
	struct seat_entry *t;

	before_record();
	CHECK(seats_take(heap(), &t) != NULL);
}

void before_take_unowned(void)
{
	before_check_out();
	before_take();
}

/* Unowned slabs: one that is preferred, and another with one block, or none. */
static void two_unowned(bool empty_is_preferred)
{
	size_t i, slots = class_slots(class_of(death_size), 1);

	before_check_out();
	for (i = 0; i <= slots; i++)
		(void)book_take(death_size);
	if (empty_is_preferred)
		book_release(&book->entry[slots]);
	else
		book_release(&book->entry[1]); /* its slab was full: it is preferred now */
}

/* The entry that was the last one stands where the released one was. */
void before_last_unowned(void)
{
	two_unowned(false);
	before_choose(1);
}

void before_another_is_preferred(void)
{
	two_unowned(true);
	before_choose(0);
}

void before_empty_unowned(void)
{
	two_unowned(true);
}

/* A thread without a record: all are in use. */
static void use_records(void)
{
	struct owner *o;

	while ((o = store_owner(heap())) != NULL) {
		owner_reset(o);
		owner_publish(heap(), o, recover_holder(heap()));
	}
}

void before_no_record(void)
{
	death_by_live(use_records);
	store_of(heap())->refused = 1; /* or it asks of each whether its holder lives */
}

/* A handler that interrupted the thread's first call; and no chunk has units. */
void before_busy(void)
{
	struct seat_entry *t;

	before_record();
	CHECK(seats_take(heap(), &t) != NULL);
	shrink_before_vacate(t->self); /* as a record is left */
	owner_vacate(t->self);
	t->self = SEAT_BUSY;
	death_by_live(before_fill_chunks);
}

/* ---- a process died in the middle of everything ---- */

/* In a heap of this state a process does this and ends. */
#define ENDED(name, state)                      \
	void ended_##name(void)                 \
	{                                       \
		state();                        \
		death_by_ended(die_##name);     \
	}
/* It builds, by this record or none, and has done this when it ends. */
#define ENDED_OVER(name, state, record, ...)                        \
	static void die_##name(void)                                \
	{                                                           \
		before_three();                                     \
		(void)building_begin(heap(), record);               \
		__VA_ARGS__;                                        \
	}                                                           \
	ENDED(name, state)
#define OWN seats_self(heap())

ENDED_OVER(over_units, before_record, OWN, CHECK(units_claim(heap(), 3, true, false).chunk != NULL))
ENDED_OVER(over_chunks, before_record, OWN, CHECK(region_claim(heap(), 3, 1, false).region != NULL))
ENDED_OVER(over_span, before_record, OWN, CHECK(span_alloc(heap(), (size_t)3 << 20, 1, false) != NULL))
ENDED_OVER(over_slot_unowned, before_record, NULL, CHECK(unowned_slot(heap(), class_of(death_size)) != NULL))
ENDED_OVER(over_extend, before_extend, OWN, heap()->regions->chunks = DEATH_CHUNKS) /* and the bits are not set yet */

static void die_unmaking_unowned(void)
{
	struct slab *s;

	before_record();
	(void)building_begin(heap(), OWN);
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
	o = OWN;
	truth_of(o)->flight = (uint64_t)(uintptr_t)ash_heap_alloc(death_heap, death_size);
}

ENDED(over_record, before_record)
ENDED(over_slot, before_record)
ENDED(unmaking_unowned, before_record)
