/* SPDX-License-Identifier: MIT */
/*
 * Blocks above 32 KiB where there is malloc: released ones that are cached (core/thread/large.c).
 */
#include "malloc/large.h"

static void park(size_t size)
{
	ash_release(ash_alloc(size));
	CHECK_EQ(ash_check(), 0);
}

TEST(whole_parked_serves_its_class, 10)
{
	char *p = ash_alloc(40000), *q;

	memset(p, 1, 40000);
	ash_release(p);
	CHECK_EQ(cached(), 2);
	q = ash_alloc(40000);
	CHECK(q == p);
	CHECK_EQ(cached(), 0);
	ash_release(q);
	q = ash_zalloc(1, 40000);
	CHECK(q == p);
	for (size_t i = 0; i < 40000; i++)
		CHECK_EQ(q[i], 0);
	ash_release(q);
}

/* The slab is made anew: the block may use what its own class has, and no more. */
TEST(whole_parked_serves_another_class, 10)
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
	/* Other units: it stays cached. */
	q = ash_alloc(UNITS(3));
	CHECK(q != p);
	CHECK_EQ(cached(), 2);
	ash_release(q);
	CHECK_EQ(cached(), 5);
	CHECK_EQ(ash_check(), 0);
}

static void park_one_of(unsigned units)
{
	park(UNITS(units));
	units = (unsigned)(ash_good_size(UNITS(units)) / UNIT_SIZE);
	CHECK(cached() <= SPARE_UNITS || cached() == units);
	CHECK(seat.self->cached[units < LARGE_CACHE ? units - 1 : LARGE_CACHE - 1]->units == units);
}

TEST(whole_parked_are_few, 10)
{
	unsigned n;

	for (n = 2; n <= 32; n++)
		park_one_of(n);
	for (n = 32; n >= 2; n--)
		park_one_of(n);
	CHECK(cached() > SPARE_UNITS / 2);
	(void)ash_trim(0);
	CHECK_EQ(cached(), 0);
	CHECK_EQ(ash_check(), 0);
}

/* What is cached goes before the heap grows. */
TEST(whole_parked_go_before_growth, 10)
{
	struct chunk *c;
	char *p;

	p = ash_alloc(UNITS(32));
	c = map_find(p);
	CHECK(ash_alloc(UNITS(24)) != NULL);
	park(UNITS(2));
	park(UNITS(3));
	/* Eight units are free or cached, the two of the first being in their midst. */
	CHECK(map_find(ash_alloc(UNITS(4))) == c);
	CHECK_EQ(ash_check(), 0);
	ash_release(p);
}

static void release_it(void *p)
{
	ash_release(p);
}

/* Released by another thread: it comes back by the letter and the list, and is cached later. */
TEST(whole_released_by_another, 10)
{
	char *p = ash_alloc(40000), *other = ash_alloc(40000), *q, *r;
	struct rt_thread *thread = rt_thread_start(release_it, p);

	CHECK(thread != NULL);
	rt_thread_join(thread);
	q = ash_alloc(40000);
	CHECK(q == p);
	CHECK_EQ(ash_check(), 0);
	CHECK(seat.self->bins[class_of(40000)].slab == NULL);
	ash_release(q);
	CHECK_EQ(cached(), 2);
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
	CHECK_EQ(cached(), 0);
	CHECK_EQ(ash_check(), 0);
}

/*
 * What is cached is taken again without asking, so a trim must leave it alone; what
 * others released is not cached, and goes.
 */
TEST(whole_parked_is_not_purged_by_others, 20)
{
	unsigned char *p = ash_alloc(100000);
	struct rt_thread *thread;
	struct slab *s;
	size_t room = 0;

	CHECK(slab_find(map_find(p), p, &s));
	memset(p, 7, 100000);
	ash_release(p);
	CHECK(large_is_cached(seat.self, s));
	CHECK_EQ(slabs_purge_held(&heap_default, s, &room), 0);
	CHECK(p[50000] == 7);
	CHECK(ash_alloc(100000) == (void *)p);
	CHECK_EQ(slabs_purge_held(&heap_default, s, &room), 0);
	CHECK(p[50000] == 7);
	thread = rt_thread_start(release_it, p);
	CHECK(thread != NULL);
	rt_thread_join(thread);
	if (!rt_under_qemu())
		CHECK(slabs_purge_held(&heap_default, s, &room) >= 96 * KIB);
	CHECK_EQ(ash_check(), 0);
}

#define NOT_INTACT(place, value)                                                                   \
	do {                                                                                       \
		__typeof__(place) kept = (place);                                                  \
		CHECK(kept != (value));                                                            \
		(place) = (value);                                                                 \
		CHECK(!owner_is_intact(o, 3));                                                     \
		(place) = kept;                                                                    \
		CHECK(owner_is_intact(o, 3));                                                      \
	} while (0)

/* What is cached of a record that a vanished thread left. */
TEST(whole_parked_intact, 10)
{
	char *p = ash_alloc(40000), *stays = ash_alloc(40000);
	struct slab *s, *other;
	struct owner *o;

	CHECK(ash_alloc(10) != NULL);
	o = seat.self;
	CHECK(slab_find(map_find(p), p, &s) && slab_find(map_find(stays), stays, &other));
	CHECK(owner_is_intact(o, 3));
	ash_release(p);
	CHECK_EQ(cached(), 2);
	CHECK(owner_is_intact(o, 3));
	NOT_INTACT(s->slots, 2);
	NOT_INTACT(s->free[0], 0);
	NOT_INTACT(s->ready, 1);
	NOT_INTACT(s->owner, 0);
	NOT_INTACT(s->chunk->head[s->unit], 0);
	NOT_INTACT(o->cached_units, 0);
	NOT_INTACT(o->cached_units, 3);
	NOT_INTACT(o->cached[1], other);
	NOT_INTACT(o->cached[1], NULL);
	NOT_INTACT(o->cached[2], s);
	ash_release(stays);
	CHECK_EQ(ash_check(), 0);
}
