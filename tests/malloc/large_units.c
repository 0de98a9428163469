/* SPDX-License-Identifier: MIT */
/* Blocks above 32 KiB where there is malloc: their units, and where they come from. */
#include "malloc/large.h"

/* A hole of exactly so many units is taken. */
TEST(whole_fits_exactly, 10)
{
	for (unsigned n = 2; n <= 32; n++) {
		size_t size = UNITS(n) - 8 * KIB;
		char *hole = ash_alloc(size), *guard = ash_alloc(100);

		ash_release(hole);
		(void)ash_trim(SIZE_MAX);
		CHECK_EQ(cached(), 0);
		CHECK(ash_alloc(size) == (void *)hole);
		ash_release(hole);
		ash_release(guard);
		(void)ash_trim(0);
	}
}

/* A hole that is a unit too small is none, whatever the size. */
TEST(whole_needs_all_of_its_units, 10)
{
	for (unsigned n = 3; n <= 32; n++) {
		size_t size = UNITS(n) - 8 * KIB;
		unsigned units = (unsigned)((class_size(class_of(size)) + UNIT_SIZE - 1) / UNIT_SIZE);
		char *hole = ash_alloc(UNITS(units - 1)), *guard = ash_alloc(100), *p;
		struct slab *s;

		CHECK(slab_find(map_find(hole), hole, &s));
		if (s->units != units - 1)
			break; /* no class has it; smaller ones were tried */
		CHECK(guard == hole + UNITS(units - 1));
		ash_release(hole);
		(void)ash_trim(SIZE_MAX);
		CHECK_EQ(cached(), 0);
		p = ash_alloc(size);
		CHECK(p + UNITS(units) <= hole || p >= hole + UNITS(units - 1));
		CHECK_EQ(ash_check(), 0);
		ash_release(p);
		ash_release(guard);
		(void)ash_trim(0);
	}
}

/* A letter is found in whichever place of the inbox it lies. */
TEST(whole_looks_at_all_mail, 10)
{
	char *p = ash_alloc(40000), *q;
	struct owner *o;
	struct slab *s;

	CHECK(ash_alloc(10) != NULL);
	o = seat.self;
	CHECK(slab_find(map_find(p), p, &s));
	for (unsigned i = 0; i < INBOX_WORDS; i++) {
		CHECK(s->free[0] == 0);
		fetch_or_seq_cst(&s->remote[0], 1);
		fetch_or_seq_cst(&s->owner, OWNER_PENDING);
		o->inbox[i] = i < INBOX_CLASSES ? i == s->class / 64 ? (uint64_t)1 << s->class % 64 : 0
					     : (uint64_t)(uintptr_t)s;
		q = ash_alloc(40000);
		if (o->inbox[i] == 0 && q == p)
			continue;
		/* No class of this word: nothing told of it, but for the mark. */
		CHECK(i < INBOX_CLASSES && i != s->class / 64u);
		ash_release(q);
		o->pending_slabs[0] = (uint64_t)(uintptr_t)s;
		(void)ash_trim(SIZE_MAX);
		p = ash_alloc(40000);
		CHECK(slab_find(map_find(p), p, &s));
	}
	CHECK_EQ(ash_check(), 0);
}

/* What is cached may have been written to. */
TEST(whole_parked_is_not_clean, 10)
{
	char *p = ash_alloc(40000);
	bool clean = true;
	struct owner *o;
	struct slab *s;

	CHECK(ash_alloc(10) != NULL);
	ash_release(p);
	o = seat_take();
	CHECK(large_take(o, class_of(40000), &clean) == p);
	CHECK(!clean);
	clean = false;
	p = large_take(o, class_of(60000), &clean);
	CHECK(p != NULL && clean); /* fresh from the system */
	CHECK(slab_find(map_find(p), p, &s));
	large_freed(o, s);
	clean = true;
	CHECK(large_take(o, class_of(64000), &clean) == p && !clean);
	seat_open();
}

static size_t rested;

static void *rest(size_t size)
{
	rested = size;
	return ash_alloc(size);
}

/* What operator new calls. */
TEST(whole_and_small_or_else, 10)
{
	for (size_t size = 0; size <= 2 * SLOT_SMALL; size++) {
		char *p, *q;

		ash_release(rest(size)); /* its bin has a slab */
		rested = 0;
		p = ash_alloc_or(size, rest);
		CHECK_EQ(rested, size > SLOT_SMALL ? size : 0);
		q = rest(size);
		CHECK_EQ(ash_usable_size(p), ash_good_size(size));
		CHECK_EQ(ash_usable_size(p), ash_usable_size(q));
		ash_release(p);
		ash_release(q);
	}
	CHECK_EQ(ash_check(), 0);
}
