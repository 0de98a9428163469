/* SPDX-License-Identifier: MIT */
/*
 * Moments of the protocol between threads that chance seldom shows, made by
 * hand: one thread plays both, stopping where the other might be stopped.
 */
#include "owner.h"
#include "release.h"
#include "rt.h"
#include "stamp.h"

static struct place place_of(void *p)
{
	struct place at;

	CHECK(place_find(map_find(p), p, &at));
	return at;
}

/* A block of a slab that nobody owns: what a handler gets that interrupted a call. */
static void *shared_alloc(size_t size)
{
	struct owner *o = seat_take();
	void *p = ash_alloc(size); /* the seat is empty, but it is somebody's */

	CHECK(o != NULL && p != NULL);
	seat_give(o);
	CHECK((place_of(p).slab->owner & OWNER_SHARED) != 0);
	return p;
}

TEST(protocol_late_mark_on_a_shared_slab, 10)
{
	void *p = shared_alloc(100);
	struct place at = place_of(p);
	struct ash_stats st;

	/* Of a thread that released into the slab which was here before. */
	fetch_or_ordered(&at.slab->owner, OWNER_PENDING);
	ash_release(p);
	ash_stats(&st);
	CHECK_EQ(st.pending, 0);
	CHECK_EQ(st.blocks, 0);
	CHECK_EQ(ash_check(), 0);
	/* The slot is free for others again: the lowest one, so it comes next. */
	CHECK(shared_alloc(100) == p);
	ash_release(p);
	/* And a walk finds the slab, without the hint. */
	heap_default.shared[at.slab->class] = NULL;
	CHECK(shared_alloc(100) == p);
	ash_release(p);
	stamp_check_nothing_left();
}

/* What a releasing thread does up to a certain point. */
static uint64_t remote_until_mark(struct place at)
{
	fetch_or_ordered(&at.slab->remote[at.group], at.bit);
	return fetch_or_ordered(&at.slab->owner, OWNER_PENDING);
}

static void *left;

static void leave_body(__attribute__((unused)) void *argument)
{
	left = ash_alloc(5000);
}

/* The letter arrives when its receiver is no more; its sender visits. */
TEST(protocol_letter_to_a_vacant_record, 10)
{
	struct ash_stats st;
	struct place at;
	uint64_t owner;

	rt_thread_join(rt_thread_start(leave_body, NULL));
	at = place_of(left);
	owner = remote_until_mark(at);
	CHECK_EQ(((struct owner *)owner)->state, OWNER_VACANT);
	owner_notify(owner, at.slab);
	owner_visit((struct owner *)owner);
	ash_stats(&st);
	CHECK_EQ(st.pending, 0);
	CHECK_EQ(st.slabs, 0);
	CHECK_EQ(((struct owner *)owner)->state, OWNER_VACANT);
	CHECK_EQ(ash_check(), 0);
}

/* The slab moves to another owner between the mark and the letter. */
TEST(protocol_adoption_between_mark_and_letter, 10)
{
	void *own = ash_alloc(5000); /* so that the record left behind is not taken as ours */
	struct ash_stats st;
	struct owner *o;
	struct place at;
	uint64_t owner;

	rt_thread_join(rt_thread_start(leave_body, NULL));
	at = place_of(left);
	owner = remote_until_mark(at);
	o = seat_take();
	CHECK(owner_adopt(o, at.slab->class));
	CHECK_EQ(at.slab->owner, (uint64_t)(uintptr_t)o); /* and the mark is off */
	seat_give(o);
	ash_stats(&st);
	CHECK_EQ(st.pending, 0);
	/* The letter comes to the old owner, where it means nothing. */
	owner_notify(owner, at.slab);
	owner_visit((struct owner *)owner);
	ash_release(own);
	stamp_check_nothing_left();
}

/* The inbox is full: the class is marked; nothing gets lost. */
TEST(protocol_more_letters_than_the_inbox_holds, 10)
{
	enum { SLABS = 3 * INBOX_SLOTS, SIZE = 20000 };
	void *blocks[SLABS * 5];
	struct slab *seen = NULL;
	struct ash_stats st;
	struct owner *o;
	size_t i, n;

	for (i = 0; i < SLABS * 5; i++)
		blocks[i] = ash_alloc(SIZE);
	/* All is released as if by another thread. */
	o = seat_take();
	for (i = 0; i < SLABS * 5; i++) {
		ash_release(blocks[i]);
		seen = place_of(blocks[i]).slab;
		CHECK((seen->owner & OWNER_PENDING) != 0);
	}
	CHECK((o->marked[0] | o->marked[1]) != 0);
	owner_collect(o);
	seat_give(o);
	ash_stats(&st);
	CHECK_EQ(st.pending, 0);
	CHECK_EQ(st.blocks, 0);
	CHECK_EQ(ash_check(), 0);
	/* Slabs that got empty in the walk went back, but for the few spares. */
	n = st.slabs;
	CHECK(n <= 2 * SPARE_UNITS * UNIT_SIZE);
	stamp_check_nothing_left();
}

/* Empty slabs of many classes at once: old spares go while shelves are walked. */
TEST(protocol_spares_go_during_a_collection, 10)
{
	enum { EACH = 40 };
	static const size_t sizes[] = {2000, 3000, 5000, 9000, 16000, 20000, 30000, 32000};
	static void *blocks[8][EACH];
	struct owner *o;
	struct ash_stats st;

	for (size_t round = 0; round < 4; round++) {
		for (size_t c = 0; c < 8; c++)
			for (size_t i = 0; i < EACH; i++)
				blocks[c][i] = ash_alloc(sizes[c]);
		o = seat_take();
		for (size_t c = 0; c < 8; c++)
			for (size_t i = 0; i < EACH; i++)
				ash_release(blocks[c][i]);
		if (round % 2)
			owner_collect_all(o);
		else
			owner_collect(o);
		seat_give(o);
		CHECK_EQ(ash_check(), 0);
		ash_stats(&st);
		CHECK_EQ(st.blocks + st.pending, 0);
	}
	ash_thread_detach();
	ash_stats(&st);
	CHECK_EQ(st.slabs, 0);
	stamp_check_nothing_left();
}
