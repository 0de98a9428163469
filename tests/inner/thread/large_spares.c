/* SPDX-License-Identifier: MIT */
/* Spares of blocks above 32 KiB (core/thread/refill_large.c): which blocks they serve. */
#include "backend/map.h"
#include "backend/retain.h"
#include "front/slot.h"
#include "inner/spares.h"
#include "support/blocks.h"
#include "thread/bin.h"
#include "thread/refill.h"
#include "thread/seating.h"
#include "thread/settle.h"

#define UNITS(n) ((n)*UNIT_SIZE)

static size_t spare_units(void)
{
	return spares_large(seat.self);
}

static void make_spare(size_t size)
{
	ash_release(ash_alloc(size));
	CHECK_EQ(ash_check(), 0);
}

TEST(large_spare_serves_its_class, 10)
{
	char *p = ash_alloc(40000), *q;

	memset(p, 1, 40000);
	ash_release(p);
	CHECK_EQ(spare_units(), 2);
	q = ash_alloc(40000);
	CHECK(q == p);
	CHECK_EQ(spare_units(), 0);
	ash_release(q);
	q = ash_zalloc(1, 40000);
	CHECK(q == p);
	for (size_t i = 0; i < 40000; i++)
		CHECK_EQ(q[i], 0);
	ash_release(q);
}

/* A block of another unit may have its unit's hint, as beyond 8 GiB: its release finds the slab by the full map. */
TEST(large_spare_of_a_slab_without_a_hint, 10)
{
	char *p = ash_alloc(UNITS(3)), *q;

	*map_unit(p) = NULL;
	ash_release(p);
	CHECK_EQ(spare_units(), 3);
	q = ash_alloc(UNITS(3) - 8192); /* of another class: only a spare's units serve it */
	CHECK(q == p);
	ash_release(q);
	CHECK_EQ(ash_check(), 0);
}

/* The slab is made again: the block may use the bytes of its own class, and no more. */
TEST(large_spare_serves_another_class, 10)
{
	char *p = ash_alloc(40000), *q;

	memset(p, 1, 40000);
	ash_release(p);
	q = ash_zalloc(1, 60000);
	CHECK(q == p);
	CHECK_EQ(ash_usable_size(q), ash_good_size(60000));
	for (size_t i = 0; i < 60000; i++)
		CHECK_EQ(q[i], 0);
	CHECK_EQ(ash_check(), 0);
	ash_release(q);
	/* Other units: it stays a spare. */
	q = ash_alloc(UNITS(3));
	CHECK(q != p);
	CHECK_EQ(spare_units(), 2);
	ash_release(q);
	CHECK_EQ(spare_units(), 5);
	CHECK_EQ(ash_check(), 0);
}

/* Slots of 64 KiB are aligned and slots of 60 KiB are not, so neither class reuses the other's spare of two units. */
TEST(large_spare_of_the_other_class_of_its_units, 10)
{
	char *narrow = ash_alloc(60000), *wide;

	ash_release(narrow);
	wide = ash_alloc(UNITS(2));
	CHECK(wide != narrow);
	CHECK_EQ(ash_usable_size(wide), UNITS(2));
	ash_release(wide);
	CHECK_EQ(spare_units(), 4);
	CHECK(ash_alloc(60000) == (void *)narrow);
	CHECK(ash_alloc(UNITS(2)) == (void *)wide);
	CHECK_EQ(spare_units(), 0);
	CHECK_EQ(ash_check(), 0);
}

/* A spare goes before the heap grows. */
TEST(large_spare_go_before_growth, 10)
{
	struct chunk *c;
	char *p;

	p = ash_alloc(UNITS(32));
	c = map_find(p);
	CHECK(ash_alloc(UNITS(24)) != NULL);
	make_spare(UNITS(2));
	make_spare(UNITS(3));
	/* Eight units are free or spares, the two of the first being in their midst. */
	CHECK(map_find(ash_alloc(UNITS(4))) == c);
	CHECK_EQ(ash_check(), 0);
	ash_release(p);
}

/*
 * A spare is taken again without asking, so a trim must leave it alone; what
 * others released is none, and goes.
 */
TEST(large_spare_is_not_purged_by_others, 20)
{
	unsigned char *p = ash_alloc(100000);
	struct slab *s;
	size_t room = 0;

	CHECK(slab_find(map_find(p), p, &s));
	memset(p, 7, 100000);
	ash_release(p);
	CHECK(s->spare && s->ready == 0);
	CHECK_EQ(slabs_purge_held(&heap_default, s, &room), 0);
	CHECK(p[50000] == 7);
	CHECK(ash_alloc(100000) == (void *)p);
	CHECK_EQ(slabs_purge_held(&heap_default, s, &room), 0);
	CHECK(p[50000] == 7);
	rt_in_thread(ash_release, p);
	if (!rt_under_qemu())
		CHECK(slabs_purge_held(&heap_default, s, &room) >= 96 * KIB);
	CHECK_EQ(ash_check(), 0);
}

/* A spare may have been written to. */
TEST(large_spare_is_not_clean, 10)
{
	char *p = ash_alloc(40000);
	bool clean = true;
	struct owner *o;
	struct slab *s;

	CHECK(ash_alloc(10) != NULL);
	ash_release(p);
	o = seat_take();
	CHECK(large_take(o, slot_class(class_of(40000)), &clean) == p);
	CHECK(!clean);
	clean = false;
	p = large_take(o, slot_class(class_of(60000)), &clean);
	CHECK(p != NULL && clean); /* fresh from the system */
	CHECK(slab_find(map_find(p), p, &s));
	large_freed(o, s);
	clean = true;
	CHECK(large_take(o, slot_class(class_of(57000)), &clean) == p && !clean);
	seat_open();
}
