/* SPDX-License-Identifier: MIT */
/*
 * The seat is open after each call, however the call ended.  No caller would notice a seat that
 * stays closed, as the unowned slabs serve it; nor, but for handlers, a call that does not close it.
 * Nor is the record in the middle of a change.
 */
#include "ashlar.h"
#include "support/handler_at_step.h"
#include "thread/seat.h"

#define OPEN()                                                                                     \
	CHECK(seat.open == SEAT_OPEN && seat.self != owner_none && seat.self == seat.record &&     \
	      seat.guest == 0 && seat.self->building == 0)

enum { MANY = 300 };

TEST(inner_open_after_each_call, 10)
{
	static char *p[MANY];

	for (size_t i = 0; i < MANY; i++) {
		p[i] = ash_alloc(i);
		OPEN();
	}
	for (size_t i = 0; i < MANY; i++) {
		p[i] = ash_resize(p[i], i * 7 % 4000);
		OPEN();
		CHECK(ash_usable_size(p[i]) >= i * 7 % 4000);
		OPEN();
	}
	/* Releases by another thread set pending marks. */
	for (size_t i = 0; i < MANY; i += 3) {
		rt_in_thread(ash_release, p[i]);
		p[i] = NULL;
	}
	for (size_t i = 0; i < MANY; i++) {
		p[i] = ash_resize(p[i], i * 5 % 1500);
		OPEN();
		ash_release(p[i]);
		OPEN();
		p[i] = ash_zalloc(i % 7 + 1, i * 50);
		OPEN();
	}
	for (size_t i = 0; i < MANY; i++) {
		ash_release_sized(p[i], i);
		OPEN();
		p[i] = ash_aligned_alloc((size_t)8 << (i % 17), i * 100);
		OPEN();
	}
	for (size_t i = 0; i < MANY; i++) {
		ash_release(p[i]);
		OPEN();
	}
	(void)ash_trim(0);
	OPEN();
	CHECK_EQ(ash_check(), 0);
	OPEN();
}

TEST(inner_open_after_large, 10)
{
	char *p = ash_alloc(10), *q; /* a thread that has large blocks only needs no seat */

	ash_release(p);
	p = ash_alloc(3 * MIB);
	q = ash_zalloc(1, 9 * MIB);
	q = ash_resize(q, 2 * MIB);
	p = ash_resize(p, 30 * MIB);
	OPEN();
	q = ash_resize(q, 200000);
	OPEN();
	p = ash_resize(p, 100);
	OPEN();
	ash_release(q);
	OPEN();
	ash_release(p);
	OPEN();
}

TEST(inner_open_after_failure, 10)
{
	char *p = ash_alloc(100), *q = ash_alloc(2 * MIB);

	CHECK(ash_alloc(SIZE_MAX) == NULL && ash_alloc((size_t)1 << 50) == NULL);
	OPEN();
	CHECK(ash_zalloc(SIZE_MAX, 3) == NULL && ash_zalloc(1, (size_t)1 << 50) == NULL);
	OPEN();
	CHECK(ash_aligned_alloc(64, (size_t)1 << 50) == NULL && ash_aligned_alloc(3, 100) == NULL);
	OPEN();
	CHECK(ash_resize(p, SIZE_MAX) == NULL && ash_resize(p, (size_t)1 << 50) == NULL);
	OPEN();
	CHECK(ash_resize(q, SIZE_MAX) == NULL && ash_resize(q, (size_t)1 << 50) == NULL);
	OPEN();
	ash_release(p);
	ash_release(q);
	ash_release(NULL);
	OPEN();
}

/* ---- after a first call, in which a handler made its own first call ---- */

static void *block;

DOES(first_call, block = ash_alloc(48));
DOES(act_first, ash_release(ash_alloc(48)));

/* A seat that stays closed is harmless: all calls use the unowned slabs, and work. */
TEST(inner_seat_is_open_after_a_handlers_first_call, 30)
{
	bool more = true;
	size_t k;

	step_begin(act_first);
	for (k = 0; more; k += k < 200 ? 1 : 23) { /* the first steps are those of ash_alloc itself */
		ash_thread_detach();
		more = with_act_at(k, first_call);
		CHECK(seat.open == SEAT_OPEN && seat.self != owner_none);
		ash_release(block);
	}
	CHECK(k > 100);
	CHECK_EQ(ash_check(), 0);
}
