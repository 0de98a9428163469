/* SPDX-License-Identifier: MIT */
/*
 * A thread releases while the owner, or a guest, empties the inbox: at an instruction boundary of
 * the call a handler releases a block, by the same route as another thread.
 */
#include "inner/slots.h"
#include "support/handler_at_step.h"
#include "thread/seating.h"

enum { SIZE = 20000, OTHER = 24000, BLOCKS = 40, BOUNDARIES = 1500 };

static void *blocks[BLOCKS], *late;
static struct owner *me;

static void release_late(void)
{
	ash_release(late);
	late = NULL;
}

static bool inbox_is_filled(const struct owner *o)
{
	uint64_t any = 0;

	for (size_t i = 0; i < INBOX_SLABS; i++)
		any |= load_relaxed(&o->inbox[i]);
	return any != 0;
}

DOES(collect, collect_inbox(me));

/* An inbox with some entries, and room for the late block's. */
static void fill_inbox(size_t round)
{
	/* The slab of the late block has another place among the entries in each round. */
	if (round % 2 == 0)
		late = ash_alloc(OTHER + round % 8 * 1000);
	alloc_each(blocks, BLOCKS, SIZE);
	if (round % 2 != 0)
		late = ash_alloc(OTHER + round % 8 * 1000);
	me = seat_take();
	release_each(blocks, BLOCKS);
}

/* An entry made at any moment is collected, at once or by the next call, which is due. */
TEST(protocol_entry_while_the_inbox_is_emptied, 60)
{
	size_t k, next = 0;

	step_begin(release_late);
	for (k = 0; k < BOUNDARIES; k += 13) {
		fill_inbox(k / 13);
		if (!with_act_at(k, collect))
			release_late();
		if (inbox_is_filled(me)) {
			CHECK(me->notified != 0);
			next++;
			collect_inbox(me);
		}
		CHECK(!inbox_is_filled(me));
		seat_open();
		nothing_is_left();
	}
	CHECK(next > 0 && next < BOUNDARIES);
	CHECK_EQ(ash_check(), 0);
	stamp_check_nothing_left();
}

/* ---- a guest ---- */

static void leave_two(UNUSED void *argument)
{
	blocks[0] = ash_alloc(SIZE);
	blocks[1] = ash_alloc(300);
	late = ash_alloc(300);
	me = seat.self;
}

DOES(visit, visit_slab(me, place_of(blocks[0]).slab));

/* A thread that releases while a guest holds the record leaves the inbox entry to the guest. */
TEST(protocol_entry_while_a_guest_empties_the_inbox, 60)
{
	struct slot_ref at;
	struct rt_random random;
	bool more = true;
	size_t k;

	rt_seed(&random, rt_test_seed());
	ash_release(ash_alloc(40)); /* a record of our own: theirs stays vacant */
	step_begin(release_late);
	for (k = 0; more; k += 1 + rt_below(&random, rt_in_full() ? 4 : 32)) {
		rt_in_thread(leave_two, NULL);
		CHECK(me != seat.self && me->state == OWNER_VACANT);
		ash_release(blocks[1]); /* the late one finds the pending bit set */
		at = place_of(blocks[0]);
		fetch_or_seq_cst(&at.slab->remote[at.group], at.bit);
		CHECK_EQ(fetch_or_seq_cst(&at.slab->owner, OWNER_PENDING), (uint64_t)(uintptr_t)me);
		enter_by_hand(me, at.slab);
		more = with_act_at(k, visit);
		if (!more)
			release_late();
		CHECK_EQ(me->state, OWNER_VACANT);
		CHECK_EQ(at.slab->owner, 0);
		nothing_is_left();
	}
	CHECK(k > 200);
	CHECK_EQ(ash_check(), 0);
}

/*
 * A thread vacates a record whose inbox names slab A; a guest takes the record at once, to visit slab
 * B only.  The thread that vacated it leaves INBOX_MISSED for the guest, or nobody would collect from A.
 */
TEST(protocol_entry_when_a_guest_came_first, 10)
{
	struct slot_ref at;

	ash_release(ash_alloc(40));
	rt_in_thread(leave_two, NULL);
	CHECK(owner_hold(me)); /* the guest, before it looks whether it missed something */
	at = place_of(blocks[0]);
	fetch_or_seq_cst(&at.slab->remote[at.group], at.bit);
	CHECK_EQ(fetch_or_seq_cst(&at.slab->owner, OWNER_PENDING), (uint64_t)(uintptr_t)me);
	enter_by_hand(me, at.slab);
	visit_vacant(me); /* of the thread that vacated the record: the guest holds it */
	CHECK_EQ(me->state & OWNER_GUEST, OWNER_GUEST);
	owner_vacate(me);
	ash_release(blocks[1]);
	ash_release(late); /* it empties a group: another visit of one slab */
	CHECK_EQ(at.slab->owner, 0);
	CHECK_EQ(me->state, OWNER_VACANT);
	CHECK_EQ(me->notified & INBOX_MISSED, 0);
	CHECK_EQ(ash_check(), 0);
}

/* An entry is a hint: from a slab that another record has by now nothing is collected. */
TEST(protocol_entry_of_anothers_slab, 10)
{
	struct slot_ref at;
	struct owner *o;

	ash_release(ash_alloc(40));
	rt_in_thread(leave_two, NULL);
	at = place_of(blocks[0]);
	fetch_or_seq_cst(&at.slab->remote[at.group], at.bit);
	CHECK_EQ(fetch_or_seq_cst(&at.slab->owner, OWNER_PENDING), (uint64_t)(uintptr_t)me);
	o = seat_take();
	CHECK(o != me);
	enter_by_hand(o, at.slab);
	collect_inbox(o);
	seat_open();
	CHECK_EQ(o->notified, 0);
	CHECK_EQ(at.slab->remote[at.group] & at.bit, at.bit);
	CHECK_EQ(at.slab->owner, (uint64_t)(uintptr_t)me | OWNER_PENDING);
	enter_by_hand(me, at.slab);
	CHECK_EQ(ash_check(), 0);
}
