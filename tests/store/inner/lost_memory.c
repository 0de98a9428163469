/* SPDX-License-Identifier: MIT */
/*
 * The search for memory that dead threads lost (store/recover/recover.h): what a living thread holds while it
 * builds is not returned, and the search is repeated later; all else is.
 */
#include "store/recover/recover.h"

#include "front/slot.h"
#include "store/recover/builders.h"
#include "store/recover/census.h"
#include "store/recover/holds.h"
#include "slab/unowned.h"
#include "syscall.h"

#include "store/inner/lost.h" /* last: its names are short */

TEST(inner_lost_unit_of_a_builder, 10)
{
	struct chunk *c;
	struct building b;
	uint64_t bit;

	set_up();
	c = map_find(block);
	bit = lose_unit();
	b = building_begin(h, NULL);
	holds_note(h, hold_units(c, bits_lowest(bit), 1), true);
	(void)ash_heap_recover(heap);
	CHECK((c->units & bit) == 0); /* it is the builder's */
	CHECK_EQ(store_lost(store), 1);
	building_end(b);
	(void)ash_heap_recover(heap);
	CHECK((c->units & bit) != 0);
	CHECK_EQ(store_lost(store), 0);
	CHECK_EQ(ash_heap_check(heap), 0);
	/* What lies beside is no matter, nor what was held. */
	bit = lose_unit();
	b = building_begin(h, NULL);
	holds_note(h, hold_units(c, bits_lowest(bit), 1), true);
	holds_note(h, hold_units(c, bits_lowest(bit) + 1, 9), true);
	holds_note(h, hold_units(c, bits_lowest(bit) - 1, 1), true);
	holds_note(h, hold_chunks(c->index + 1u, 5), true);
	holds_note(h, hold_units(c, bits_lowest(bit), 1), false);
	(void)ash_heap_recover(heap);
	CHECK((c->units & bit) != 0);
	building_end(b);
}

static void take_unowned(struct slot_ref *at)
{
	void *p = unowned_slot(h, class_of(100));

	CHECK(p != NULL && slot_find(map_find(p), p, at));
}

/* A new slab has no tags, whatever used its memory before: a free slot would seem handed out. */
TEST(inner_lost_no_tag_in_a_new_slab, 10)
{
	enum { BLOCKS = 5000, SIZE = 16 };
	static void *blocks[BLOCKS];
	struct slot_ref at;
	struct building b;
	size_t i, made = 0;

	set_up();
	for (i = 0; i < BLOCKS; i++)
		CHECK((blocks[i] = ash_heap_alloc(heap, SIZE)) != NULL);
	for (i = 0; i < BLOCKS; i++)
		ash_heap_release(heap, blocks[i]);
	ash_heap_thread_detach(heap);
	b = building_begin(h, NULL);
	while (made < BLOCKS) {
		void *p = unowned_slot(h, class_of(SIZE));

		CHECK(p != NULL && slot_find(map_find(p), p, &at));
		CHECK_EQ(*census_tag(at.slab, at.index), TAG_NONE);
		*census_tag(at.slab, at.index) = 1;
		made++;
	}
	building_end(b);
}

/* A slot of an unowned slab that was taken and has no tag yet. */
TEST(inner_lost_slot_of_a_builder, 10)
{
	struct slot_ref at;
	struct building b;

	set_up();
	b = building_begin(h, NULL);
	take_unowned(&at);
	*census_tag(at.slab, at.index) = 1;
	take_unowned(&at); /* the first one keeps the slab from being unmade */
	CHECK_EQ(*census_tag(at.slab, at.index), TAG_NONE);
	lose();
	(void)ash_heap_recover(heap);
	CHECK(slot_is_taken(&at));
	CHECK_EQ(store_lost(store), 1);
	building_end(b);
	(void)ash_heap_recover(heap);
	CHECK(!slot_is_taken(&at));
	CHECK_EQ(store_lost(store), 0);
}

/* If nothing is lost the search succeeds, although a thread builds. */
TEST(inner_lost_nothing, 10)
{
	struct slot_ref at;
	struct building b;

	set_up();
	b = building_begin(h, NULL);
	take_unowned(&at);
	*census_tag(at.slab, at.index) = 1;
	lose();
	(void)ash_heap_recover(heap);
	CHECK(slot_is_taken(&at));
	CHECK_EQ(store_lost(store), 0);
	building_end(b);
}

/* ---- records ---- */

/*
 * A process dies while it releases a block of this process, after or before it has tagged the slot.
 */
static void release_and_die(bool marked)
{
	struct slot_ref at;
	struct owner *o;

	CHECK(slot_find(map_find(block), block, &at));
	IN_KILLED_CHILD {
		CHECK(ash_heap_alloc(heap, 100) != NULL);
		o = seats_self(h);
		CHECK(o != NULL && !owner_has(o, at.slab));
		store_release(&truth_of(o)->flight, (uint64_t)(uintptr_t)block);
		if (marked)
			store_release(census_tag(at.slab, at.index), census_leaving(o));
	}
	CHECK(ash_heap_recover(heap) > 0);
	CHECK_EQ(slot_is_taken(&at), !marked);
	CHECK_EQ(ash_heap_check(heap), 0);
}

TEST(inner_lost_release_in_flight, 10)
{
	set_up();
	needs_lives();
	release_and_die(false);
	release_and_die(true);
}

/* All records are in use, one of them by a dead process: a new thread gets that record. */
TEST(inner_lost_record_is_used_again, 10)
{
	shared_make(16 * MIB);
	needs_lives();
	IN_KILLED_CHILD
		CHECK(ash_heap_alloc(heap, 100) != NULL);
	CHECK_EQ(store->records_used, 1);
	store->records_used = STORE_RECORDS;
	CHECK(ash_heap_alloc(heap, 100) != NULL);
	CHECK(seats_self(h) == h->owners);
	store->records_used = 1;
	CHECK_EQ(ash_heap_check(heap), 0);
}

/* A thread that has detached is not building. */
TEST(inner_lost_detached_record, 10)
{
	struct owner *o;

	set_up();
	ash_heap_thread_detach(heap);
	for (o = h->owners; o != NULL; o = o->next) {
		CHECK_EQ(o->building & 1, 0);
		CHECK_EQ(o->state, OWNER_VACANT);
	}
	CHECK(building_quiet(store));
}

static void ends_while_building(UNUSED void *argument)
{
	CHECK(ash_heap_alloc(heap, 100) != NULL);
	(void)building_begin(h, seats_self(h));
	for (;;)
		(void)arch_exit(0);
}

/* Destroying the heap in a process whose thread ended while building counts that death. */
TEST(inner_lost_by_a_thread_before_destroy, 10)
{
	set_up();
	IN_CHILD {
		rt_in_thread(ends_while_building, NULL);
		ash_heap_destroy(heap);
	}
	CHECK_EQ(store_lost(store), 1);
	CHECK(building_quiet(store));
	(void)ash_heap_recover(heap);
	CHECK_EQ(store_lost(store), 0);
	CHECK_EQ(ash_heap_check(heap), 0);
}

static void ends_in_flight(void *at)
{
	void *p = NOT_NULL(ash_heap_alloc(heap, 100));

	*(void **)at = p;
	store_release(&truth_of(seats_self(h))->flight, (uint64_t)(uintptr_t)p);
	for (;;)
		(void)arch_exit(0);
}

/* Destroying it releases what a thread that ended in a call had in flight, also if the thread did not build. */
TEST(inner_lost_flight_of_a_thread_before_destroy, 10)
{
	struct slot_ref at;
	void **p;

	set_up();
	p = ash_heap_zalloc(heap, 1, sizeof *p);
	IN_CHILD {
		rt_in_thread(ends_in_flight, p);
		ash_heap_destroy(heap);
	}
	CHECK(*p != NULL);
	(void)ash_heap_recover(heap);
	CHECK(!slot_find(map_find(*p), *p, &at) || !slot_is_taken(&at)); /* or its slab is gone as well */
	CHECK_EQ(ash_heap_check(heap), 0);
}
