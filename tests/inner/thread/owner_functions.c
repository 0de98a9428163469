/* SPDX-License-Identifier: MIT */
/* Single functions on owner records: vacating, holding, taking over, reaping. */
#include "generation.h"
#include "heaps/instance.h"
#include "inner/slots.h"
#include "inner/spares.h"
#include "memory.h"
#include "thread/seating.h"

/* Clears slabs, spares and inbox of the record; the rest is kept. */
TEST(inner_parts_owner_reset, 10)
{
	static struct {
		struct owner o;
		uint64_t behind;
	} record;
	struct owner *at = &record.o;
	const char *bytes = (const char *)at->bins;

	memset(&record, 0xff, sizeof record);
	owner_reset(at);
	CHECK_EQ(record.behind, ~(uint64_t)0);
	for (size_t i = 0; i < sizeof *at - offsetof(struct owner, bins); i++)
		CHECK_EQ(bytes[i], 0);
	for (size_t i = 0; i < INBOX_SLABS; i++)
		CHECK_EQ(at->inbox[i], 0);
	CHECK(at->spare_units == 0 && at->spare_next == 0);
	CHECK(at->state == ~(uint64_t)0 && at->building == ~(uint64_t)0 && at->identity == ~(uint64_t)0);
}

/* A record has one guest at a time. */
TEST(inner_parts_hold, 10)
{
	struct owner *v;

	ash_release(ash_alloc(10));
	v = seat.self;
	CHECK_EQ(v->state, holder_seated(&heap_default));
	CHECK_EQ(holder_guest(&heap_default), (v->state & ~OWNER_HELD) | OWNER_GUEST);
	CHECK(holder_guest(&heap_default) != v->state);
	CHECK(!owner_hold(v));
	holder_note(v);
	CHECK(v->identity != 0);
	ash_thread_detach();
	CHECK_EQ(v->state, OWNER_VACANT);
	CHECK(v->identity == 0 && seat.self == owner_none); /* nothing of it is read by the thread, or said of it */
	CHECK(owner_hold(v));
	CHECK_EQ(v->state, holder_guest(&heap_default));
	CHECK(!owner_hold(v));
	owner_vacate(v);
	CHECK_EQ(v->state, OWNER_VACANT);
}

/*
 * A call that draws the thread's number was interrupted: it has none.  Else its word has the present generation, in
 * which it was drawn or not.
 */
TEST(inner_parts_numbers, 10)
{
	generation_watch();
	ash_release(ash_alloc(1));
	IN_CHILD {
		store_relaxed(&seat.number, 1); /* NUMBER_BUSY */
		CHECK(holder_here() == 0 && holder_guest(&heap_default) == 0 && !holder_has_forked());
		CHECK(!holder_has_ended(OWNER_HELD, 0)); /* of no number nothing is known */
		store_relaxed(&seat.number, 0);
		CHECK_EQ(holder_generation(holder_here()), 1);
		IN_CHILD {
			CHECK_EQ(holder_generation(holder_here()), 2);
			CHECK(holder_has_forked());
		}
	}
}

static char *small, *medium, *large;

static void leave_three(UNUSED void *argument)
{
	small = ash_alloc(100);
	medium = ash_alloc(3000);
	large = ash_alloc(SLOT_MAX);
}

/* A record in no seat, of the caller by its word (roll.h), is taken as it is; in the middle of a change it is rebuilt. */
TEST(inner_parts_own_record_is_found, 10)
{
	struct heap *h = &heap_default;
	struct owner *o;
	char *p;

	rt_in_thread(leave_three, NULL); /* vacates a record: the list is searched */
	p = ash_alloc(100);
	o = seat.self;
	for (unsigned building = 0; building < 2; building++) {
		seat_close();
		seat.self = owner_none;
		seat.record = NULL;
		o->building = building;
		if (building != 0)
			o->bins[class_of(100)].slab = 0; /* on no list */
		CHECK(ash_alloc(3000) != NULL && seat.self == o);
		CHECK_EQ(h->takeovers, building);
		CHECK(o->building == 0 && h->owner_count == 1);
	}
	ash_release(p);
	CHECK_EQ(ash_check(), 0);
}

static struct owner *release_without_entry(void *p)
{
	struct slot_ref at = place_of(p);

	fetch_or_seq_cst(&at.slab->remote[at.group], at.bit);
	fetch_or_seq_cst(&at.slab->owner, OWNER_PENDING);
	return (struct owner *)(uintptr_t)(at.slab->owner & ~OWNER_PENDING);
}

/*
 * An intact record is taken over as it is, and notifications that may have been lost are repeated.
 */
TEST(inner_parts_takeover_reminds, 10)
{
	struct takeover t = takeover_begin();
	struct owner *v;

	rt_in_thread(leave_three, NULL);
	CHECK(place_of(small).slab->class < 64 && place_of(large).slab->class == CLASSES - 1);
	v = release_without_entry(small);
	CHECK(release_without_entry(medium) == v && release_without_entry(large) == v);
	CHECK_EQ(takeover_end(&t), 0);
	CHECK(takeover_add(&t, v, OWNER_VACANT));
	CHECK(!takeover_add(&t, v, OWNER_VACANT));
	CHECK(v->state != OWNER_VACANT);
	CHECK_EQ(takeover_end(&t), 1);
	CHECK_EQ(v->state, OWNER_VACANT);
	/* A takeover looks at no slab; a trim, or the visit before NULL, finds the lost notifications. */
	(void)ash_trim(SIZE_MAX);
	nothing_is_left();
}

/* One batch after the other has a number of its own, not that of records in no batch. */
TEST(inner_parts_takeovers_are_numbered, 10)
{
	uint64_t mine, last = 0;
	struct owner *v;

	ash_release(ash_alloc(1));
	mine = seat.self->state;
	rt_in_thread(leave_three, NULL);
	v = (struct owner *)(uintptr_t)place_of(small).slab->owner;
	CHECK(!place_of(small).slab->dirty);
	for (unsigned i = 0; i < 4; i++) {
		struct takeover t = takeover_begin();

		CHECK(takeover_add(&t, v, OWNER_VACANT));
		CHECK(t.number != 0 && t.number % 2 == 0 && t.number != last);
		CHECK_EQ(v->batch, t.number);
		last = t.number;
		CHECK_EQ(takeover_end(&t), 1);
		CHECK(v->batch == 0 && v->state == OWNER_VACANT && seat.self->state == mine);
	}
	/* Its lists were right, so nothing was rebuilt. */
	CHECK(!place_of(small).slab->dirty);
}

/*
 * A guest vanished between the two stores of slab_collect: a slot has its free bit and its remote
 * bit.  The record is rebuilt, which is no double release, and is as others are afterwards.
 */
TEST(inner_parts_takeover_of_a_guest, 10)
{
	struct takeover t = takeover_begin();
	struct slot_ref at;
	struct ash_statistics st;
	struct owner *v;

	rt_in_thread(leave_three, NULL);
	v = release_without_entry(small);
	at = place_of(small);
	CHECK(owner_hold(v) && v->building == 0);
	place_of(medium).slab->spare = true;
	slab_free(at.slab, at.slab->ready, at.group, at.slab->free[at.group] | at.bit);
	CHECK(takeover_add(&t, v, v->state));
	CHECK_EQ(takeover_end(&t), 1);
	CHECK(v->state == OWNER_VACANT && v->building % 2 == 0);
	ash_stats(&st);
	CHECK_EQ(st.pending, 0);
	CHECK_EQ(st.blocks, 2);
	CHECK_EQ(st.slabs, UNIT_SIZE + SLOT_MAX); /* the empty one is gone */
	CHECK(!place_of(medium).slab->spare);
	CHECK_EQ(ash_check(), 0);
}

/* The holder gave units, and vanished before it set the region's hint. */
TEST(inner_parts_takeover_mends_hints, 10)
{
	struct takeover t = takeover_begin();
	struct owner *v;
	struct chunk *c;

	rt_in_thread(leave_three, NULL);
	v = (struct owner *)(uintptr_t)place_of(medium).slab->owner;
	c = map_find(medium);
	CHECK(c == map_find(large) && c->units != 0 && owner_hold(v));
	region_room(c->region)[c->index] = 0;
	CHECK(takeover_add(&t, v, v->state));
	CHECK_EQ(takeover_end(&t), 1);
	CHECK_EQ(region_room(c->region)[c->index], bits_longest(c->units));
	CHECK_EQ(ash_check(), 0);
}

/* The youngest spares stay, up to a number and a sum of units; the youngest one however large. */
TEST(inner_parts_spares_are_few, 10)
{
	unsigned k;

	for (k = 0; k < 80; k++) {
		ash_release(ash_alloc(k < 40 ? 1100 + 300 * k : (k * 5 % 27 + 2) * UNIT_SIZE));
		CHECK(spares_number(seat.self) == 1 || seat.self->spare_units <= SPARE_UNITS);
		CHECK(spares_newest(seat.self) != NULL);
		CHECK_EQ(ash_check(), 0);
	}
	ash_release(ash_alloc(1100));
	CHECK_EQ(spares_newest(seat.self)->units, 1);
	ash_release(ash_alloc((SPARE_UNITS + 1) * UNIT_SIZE));
	CHECK_EQ(spares_number(seat.self), 1);
}

/* The static record is the default heap's: it does not go with a heap. */
TEST(inner_parts_static_record, 10)
{
	ash_heap *heap = NOT_NULL(ash_heap_create(NULL));

	ash_heap_release(heap, ash_heap_alloc(heap, 100));
	CHECK(heap_of(heap)->owners != NULL && heap_of(heap)->owners != owner_first);
	ash_heap_destroy(heap);
	ash_release(ash_alloc(100));
	CHECK(heap_default.owners == owner_first);
	CHECK(owner_contains(&heap_default, owner_first) && !owner_contains(&heap_default, owner_first + 1));
}
