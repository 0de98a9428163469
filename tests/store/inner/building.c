/* SPDX-License-Identifier: MIT */
/*
 * Builders of a heap shared by processes (store/recover/builders.h): each is counted while it builds, and not
 * after.
 */
#include "store/recover/builders.h"

#include "store/recover/census.h"

#include "store/inner/shared.h" /* last: its names are short */

static struct owner *set_up(void)
{
	struct owner *o;

	shared_make(8 * MIB);
	ash_heap_release(heap, ash_heap_alloc(heap, 100));
	for (o = h->owners; o != NULL && o->state == OWNER_VACANT; o = o->next)
		;
	CHECK(o != NULL);
	return o;
}

/* The life of a thread that has ended. */
static uint64_t dead_life(void)
{
	static volatile uint64_t *life;

	life = ash_heap_zalloc(heap, 1, 8);
	IN_CHILD
		*life = life_of_thread();
	return *life;
}

TEST(inner_building_by_owner, 10)
{
	struct owner *o = set_up();
	struct building b, c;
	uint64_t odd = o->building;

	CHECK_EQ(odd & 1, 0);
	CHECK(building_quiet(store));
	b = building_begin(h, o);
	CHECK(b.word == &o->building && b.as == BUILDER_OWNER);
	CHECK_EQ(o->building, odd + 1);
	CHECK(!building_quiet(store));
	/* A nested call, or one by a signal handler, changes nothing. */
	c = building_begin(h, o);
	CHECK(c.word == NULL);
	building_end(c);
	CHECK_EQ(o->building, odd + 1);
	building_end(b);
	CHECK_EQ(o->building, odd + 2);
	CHECK(building_quiet(store));
	/* In heaps of one process the word is 1 or 0. */
	CHECK(ash_alloc(10) != NULL);
	o = seat.self;
	CHECK_EQ(o->building, 0);
	b = building_begin(&heap_default, o);
	CHECK(b.word == &o->building && o->building == 1);
	c = building_begin(&heap_default, o);
	CHECK(c.word == NULL);
	building_end(c);
	CHECK_EQ(o->building, 1);
	building_end(b);
	CHECK_EQ(o->building, 0);
	b = building_begin(&heap_default, NULL);
	CHECK(b.word == NULL);
	building_end(b);
}

TEST(inner_building_by_strangers, 10)
{
	struct building b[STRANGERS + 2];
	uint64_t mine;

	(void)set_up();
	mine = lives_thread(h);
	CHECK(mine != 0 && building_quiet(store));
	for (unsigned i = 0; i < STRANGERS; i++) {
		b[i] = building_begin(h, NULL);
		CHECK(b[i].word == &store_stranger(store, i)->life && b[i].as == BUILDER_STRANGER);
		CHECK_EQ(store_stranger(store, i)->life, mine);
		CHECK(!building_quiet(store));
	}
	CHECK_EQ(store->crowd, 0);
	for (unsigned i = STRANGERS; i < STRANGERS + 2; i++) {
		b[i] = building_begin(h, NULL);
		CHECK(b[i].word == &store->crowd && b[i].as == BUILDER_CROWD);
	}
	CHECK_EQ(store->crowd, 2);
	strangers_bury(store); /* all of these threads live */
	for (unsigned i = 0; i < STRANGERS; i++) {
		CHECK_EQ(store_stranger(store, i)->life, mine);
		building_end(b[i]);
		CHECK_EQ(store_stranger(store, i)->life, 0);
	}
	CHECK(!building_quiet(store));
	building_end(b[STRANGERS]);
	CHECK_EQ(store->crowd, 1);
	CHECK(!building_quiet(store));
	building_end(b[STRANGERS + 1]);
	CHECK_EQ(store->crowd, 0);
	CHECK(building_quiet(store));
	CHECK_EQ(store_lost(store), 0);
}

/* The deaths of strangers that were building are counted once each, and their entries are freed. */
TEST(inner_building_by_the_dead, 10)
{
	uint64_t life;

	(void)set_up();
	life = dead_life();
	needs_lives();
	for (unsigned i = 0; i < STRANGERS; i += 2)
		store_stranger(store, i)->life = life;
	CHECK(building_quiet(store));
	CHECK_EQ(store_lost(store), (STRANGERS + 1) / 2);
	for (unsigned i = 0; i < STRANGERS; i++)
		CHECK_EQ(store_stranger(store, i)->life, 0);
	store_stranger(store, STRANGERS - 1)->life = life;
	strangers_bury(store);
	CHECK_EQ(store_stranger(store, STRANGERS - 1)->life, 0);
	CHECK_EQ(store_lost(store), (STRANGERS + 1) / 2 + 1);
}

/* Recovery looks for them itself: nothing else counts a death where no thread searches for memory. */
TEST(inner_building_recover_asks_about_strangers, 10)
{
	(void)set_up();
	needs_lives();
	store_stranger(store, 1)->life = dead_life();
	CHECK_EQ(store_lost(store), 0);
	(void)ash_heap_recover(heap);
	CHECK_EQ(store_stranger(store, 1)->life, 0);
	CHECK_EQ(store_lost(store), 0); /* and what it left was searched for */
	CHECK_EQ(ash_heap_check(heap), 0);
}

/* A record that is held, by a live or a dead thread, keeps the census entry of its process. */
TEST(inner_building_census_is_held, 10)
{
	struct owner *o = set_up();
	uint64_t tag = truth_of(o)->census, state;

	CHECK(tag != 0);
	CHECK(census_is_held(store, tag));
	CHECK(!census_is_held(store, tag + 1));
	truth_of(o)->census = 77;
	CHECK(census_is_held(store, 77) && !census_is_held(store, tag));
	truth_of(o)->census = tag;
	state = o->state;
	o->state = OWNER_VACANT;
	CHECK(!census_is_held(store, tag));
	o->state = state;
}
