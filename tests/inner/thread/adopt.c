/* SPDX-License-Identifier: MIT */
/* Adopting: which slabs of vacant records are found.  And which class a full inbox tells of. */
#include "thread/refill.h"

#include "inner/slots.h"
#include "memory.h"
#include "support/another.h"
#include "thread/seating.h"

enum { SIZE = 200, BLOCKS = 400 };

static void *left[BLOCKS];

DOES(take_all, alloc_each(left, BLOCKS, SIZE));

static void leave(UNUSED void *argument)
{
	take_all();
}

static size_t partial_slabs(unsigned class)
{
	const struct slab *s;
	size_t n = 0;

	for (s = seat.self->bins[class].partial.head; s != NULL; s = s->next)
		n++;
	return n;
}

/* True: a slab was moved. */
static bool adopts(unsigned class, bool all)
{
	size_t before = partial_slabs(class);

	if (all)
		visit_all(&heap_default);
	adopt_slabs(seat.self, class, ADOPT_ALL);
	return partial_slabs(class) > before;
}

/* By the inbox, or by a look at all slabs where no entry was made; full ones are left alone. */
TEST(adopt_what_others_released, 10)
{
	struct slab *first, *second;
	unsigned class;
	struct slot_ref at;

	ash_release(ash_alloc(1));
	rt_in_thread(leave, NULL);
	at = place_of(left[0]);
	first = at.slab;
	second = place_of(left[first->slots]).slab;
	class = first->class;
	CHECK(second != first && place_of(left[first->slots + second->slots - 1]).slab == second);
	CHECK(adopts(class, true)); /* the last one has free slots */
	CHECK(!adopts(class, true));
	CHECK(!owner_has(seat.self, first) && !owner_has(seat.self, second));
	ash_release(left[first->slots]);
	CHECK_EQ(second->owner & OWNER_PENDING, OWNER_PENDING);
	set_bit_seq_cst(first->remote, at.index);
	CHECK(adopts(class, false));
	CHECK(owner_has(seat.self, second) && !owner_has(seat.self, first));
	CHECK(!adopts(class, false));
	CHECK(adopts(class, true));
	CHECK(owner_has(seat.self, first));
	CHECK_EQ(ash_check(), 0);
}

/* In a child of fork vanished threads have current slabs. */
TEST(adopt_a_current_slab, 10)
{
	struct slab *last;

	ash_release(ash_alloc(1));
	another_stays(take_all);
	last = place_of(left[BLOCKS - 1]).slab;
	IN_CHILD {
		ash_release(ash_alloc(9000)); /* settles */
		CHECK(!owner_has(seat.self, last));
		CHECK(adopts(last->class, false));
		CHECK(owner_has(seat.self, last));
		CHECK_EQ(ash_check(), 0);
	}
	another_goes();
}

enum { LEFT = 3000, LEFT_SIZE = 16 << 10 };
static void *many[LEFT];

static void leave_many(UNUSED void *none)
{
	alloc_each(many, LEFT, LEFT_SIZE);
	for (size_t i = 0; i < LEFT; i += 2)
		ash_release(many[i]);
}

/* However many slabs a thread left, a call moves a part of them, and the next ones the rest. */
TEST(adopt_a_part_at_a_time, 10)
{
	unsigned class = class_of(LEFT_SIZE);
	size_t before, moved, calls = 0;

	ash_release(ash_alloc(1));
	rt_in_thread(leave_many, NULL);
	for (unsigned i = 0; i < 20; i++) {
		before = partial_slabs(class);
		adopt_slabs(seat.self, class, ADOPT_TURN);
		moved = partial_slabs(class) - before;
		CHECK(moved < ADOPT_TURN);
		calls += moved != 0;
	}
	CHECK(calls > 2 && partial_slabs(class) >= LEFT / 4 - 2);
	CHECK_EQ(ash_check(), 0);
}
