/* SPDX-License-Identifier: MIT */
/* Blocks above 32 KiB (core/thread/refill_large.c): the units that they get, and how they come back from other threads. */
#include "inner/slots.h"
#include "inner/spares.h"
#include "support/handler_at_step.h"
#include "thread/refill.h"
#include "thread/seating.h"

#define UNITS(n) ((n)*UNIT_SIZE)

/* Released by another thread: it comes back by the inbox and the partial list, and is a spare later. */
TEST(large_released_by_another, 10)
{
	char *p = ash_alloc(40000), *other = ash_alloc(40000), *q, *r;
	rt_in_thread(ash_release, p);
	q = ash_alloc(40000);
	CHECK(q == p);
	CHECK_EQ(ash_check(), 0);
	CHECK(seat.self->bins[class_of(40000)].slab == 0);
	ash_release(q);
	CHECK_EQ(spares_large(seat.self), 2);
	CHECK_EQ(ash_check(), 0);
	q = ash_alloc(40000);
	r = ash_alloc(40000);
	CHECK(q == p && r != p && r != other);
	CHECK_EQ(ash_check(), 0);
	ash_release(q);
	ash_release(r);
	ash_release(other);
	CHECK_EQ(ash_check(), 0);
	(void)ash_trim(0);
	CHECK_EQ(spares_large(seat.self), 0);
	CHECK_EQ(ash_check(), 0);
}

/* A hole of exactly so many units is taken. */
TEST(large_fits_exactly, 10)
{
	for (unsigned n = 2; n <= 32; n++) {
		size_t size = UNITS(n) - 8 * KIB;
		char *hole = ash_alloc(size), *guard = ash_alloc(100);

		ash_release(hole);
		(void)ash_trim(SIZE_MAX);
		CHECK_EQ(spares_large(seat.self), 0);
		CHECK(ash_alloc(size) == (void *)hole);
		ash_release(hole);
		ash_release(guard);
		(void)ash_trim(0);
	}
}

/* A hole that is a unit too small is not used, whatever the size. */
TEST(large_needs_all_of_its_units, 10)
{
	for (unsigned n = 3; n <= 32; n++) {
		size_t size = UNITS(n) - 8 * KIB;
		unsigned units = (unsigned)((class_size(class_of(size)) + UNIT_SIZE - 1) / UNIT_SIZE);
		char *hole = ash_alloc(UNITS(units - 1)), *guard = ash_alloc(100), *p;
		struct slab *s;

		CHECK(slab_find(map_find(hole), hole, &s));
		if (s->units != units - 1)
			break; /* no class has it; smaller ones were tried */
		CHECK(guard - (uintptr_t)guard % UNIT_SIZE == hole + UNITS(units - 1));
		ash_release(hole);
		(void)ash_trim(SIZE_MAX);
		CHECK_EQ(spares_large(seat.self), 0);
		p = ash_alloc(size);
		CHECK(p + UNITS(units) <= hole || p >= hole + UNITS(units - 1));
		CHECK_EQ(ash_check(), 0);
		ash_release(p);
		ash_release(guard);
		(void)ash_trim(0);
	}
}

/* An inbox entry is found wherever it is. */
TEST(large_looks_at_all_entries, 10)
{
	char *p = ash_alloc(40000), *q;
	struct owner *o;
	struct slab *s;

	CHECK(ash_alloc(10) != NULL);
	o = seat.self;
	CHECK(slab_find(map_find(p), p, &s));
	for (unsigned i = 0; i < INBOX_SLABS; i++) {
		CHECK(s->free[0] == 0);
		fetch_or_seq_cst(&s->remote[0], 1);
		fetch_or_seq_cst(&s->owner, OWNER_PENDING);
		o->notified = 1;
		o->inbox[i] = (uint64_t)(uintptr_t)s;
		q = ash_alloc(40000);
		CHECK(o->inbox[i] == 0 && q == p);
	}
	CHECK_EQ(ash_check(), 0);
}

static struct owner *growing_in;
static char *growing;
static unsigned in_flight;

static void is_marked(void)
{
	struct slab *s;

	if (!slab_find(map_find(growing), growing, &s)) {
		CHECK_EQ(growing_in->building, 1);
		in_flight++;
	}
}

DOES(do_grow, CHECK_EQ(ash_expand(growing, 90000), ash_good_size(90000)));

/* While its units are no slab's the record says so: a fork then leaves the child lists that are rebuilt. */
TEST(large_growth_is_marked, 10)
{
	step_begin(is_marked);
	growing = ash_alloc(40000);
	growing_in = seat.self;
	act_again = 1;
	CHECK(with_act_at(0, do_grow) && in_flight > 10);
	CHECK_EQ(growing_in->building, 0);
	ash_release(growing);
}

/* ---- a larger class, where memory is short ---- */

/* Slots of 192 KiB begin at any unit, although their size is a multiple of 64 KiB. */
TEST(large_slots_of_a_larger_class_are_aligned, 10)
{
	enum { ALIGNMENT = 64 * KIB, SIZE = 192 * KIB };
	struct owner *o;
	struct slab *s;
	unsigned class;
	char *odd;

	do
		CHECK((odd = ash_alloc(SIZE)) != NULL && ash_alloc(SIZE / 2) != NULL);
	while ((uintptr_t)odd % ALIGNMENT == 0);
	s = place_of(odd).slab;
	rt_in_thread(ash_release, odd);
	o = seat_take();
	collect_inbox(o);
	CHECK(o->bins[s->class].partial.head == s && slab_is_ready(s));
	CHECK_EQ(refill_larger(o, class_of(SIZE / 2), 1), s->class);
	bin_detach(o, s->class);
	class = refill_larger(o, class_of(ALIGNMENT), ALIGNMENT);
	CHECK(class == CLASSES || (uintptr_t)bin_slab(o, &o->bins[class])->base % ALIGNMENT == 0);
	seat_give(o);
	CHECK_EQ(ash_check(), 0);
}
