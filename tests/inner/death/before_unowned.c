/* SPDX-License-Identifier: MIT */
/* What goes before the calls on paths without a record: the unowned slabs. */
#include "inner/death/before.h"

#include "heaps/instance.h"
#include "store/recover/recover.h"
#include "store/recover/seats.h"
#include "thread/seat.h"
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
