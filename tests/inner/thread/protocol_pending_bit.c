/* SPDX-License-Identifier: MIT */
/*
 * Moments of the protocol between threads that chance seldom shows, made by
 * hand: one thread plays both, stopping where the other might be stopped.
 */
#include "inner/slots.h"
#include "support/stamp.h"
#include "thread/refill.h"
#include "thread/seating.h"

/* A block of an unowned slab, as a handler gets it that interrupted a call. */
static void *unowned_alloc(size_t size)
{
	struct owner *o = seat_take();
	void *p = ash_alloc(size); /* the seat is empty, but the block has an owner */

	CHECK(o != NULL && p != NULL);
	seat_open();
	CHECK((place_of(p).slab->owner & OWNER_UNOWNED) != 0);
	return p;
}

TEST(protocol_late_pending_bit_on_an_unowned_slab, 10)
{
	void *p = unowned_alloc(100);
	struct slot_ref at = place_of(p);

	/* Of a thread that released into the slab which was here before. */
	fetch_or_seq_cst(&at.slab->owner, OWNER_PENDING);
	ash_release(p);
	nothing_is_left();
	/* The slot is free for others again: the lowest one, so it comes next. */
	CHECK(unowned_alloc(100) == p);
	ash_release(p);
	/* And a walk finds the slab, without the hint. */
	heap_default.unowned[at.slab->class] = NULL;
	CHECK(unowned_alloc(100) == p);
	ash_release(p);
	stamp_check_nothing_left();
}

/* The steps of a releasing thread up to a certain point. */
static uint64_t remote_until_pending(struct slot_ref at)
{
	fetch_or_seq_cst(&at.slab->remote[at.group], at.bit);
	return fetch_or_seq_cst(&at.slab->owner, OWNER_PENDING);
}

static void *left;

static void leave_body(UNUSED void *argument)
{
	left = ash_alloc(5000);
}

/* The inbox entry arrives when its receiver has left; the sender collects in its place. */
TEST(protocol_entry_to_a_vacant_record, 10)
{
	struct slot_ref at;
	uint64_t owner;

	rt_in_thread(leave_body, NULL);
	at = place_of(left);
	owner = remote_until_pending(at);
	CHECK_EQ(((struct owner *)owner)->state, OWNER_VACANT);
	enter_by_hand((struct owner *)owner, at.slab);
	visit_vacant((struct owner *)owner);
	CHECK_EQ(stats_now().pending, 0);
	CHECK_EQ(stats_now().slabs, 0);
	CHECK_EQ(((struct owner *)owner)->state, OWNER_VACANT);
	CHECK_EQ(ash_check(), 0);
}

/* The slab moves to another owner between the pending bit and the inbox entry. */
TEST(protocol_adoption_between_pending_bit_and_entry, 10)
{
	void *own = ash_alloc(5000); /* so that the record left behind is not taken as ours */
	struct owner *o;
	struct slot_ref at;
	uint64_t owner;

	rt_in_thread(leave_body, NULL);
	at = place_of(left);
	owner = remote_until_pending(at);
	o = seat_take();
	adopt_slabs(o, at.slab->class, ADOPT_TURN);
	CHECK_EQ(at.slab->owner, (uint64_t)(uintptr_t)o); /* and the pending bit is off */
	seat_open();
	CHECK_EQ(stats_now().pending, 0);
	/* The entry comes to the old owner, where it means nothing. */
	enter_by_hand((struct owner *)owner, at.slab);
	visit_vacant((struct owner *)owner);
	ash_release(own);
	stamp_check_nothing_left();
}

/* A pending bit comes to a slab that is gone, where a span lies by now. */
TEST(protocol_late_pending_bit_where_a_span_is, 10)
{
	void *spans[SPANS];
	size_t marks = 0;

	spans_over_slabs(spans);
	for (size_t i = 0; i < SPANS; i++) {
		struct slab *s = map_guess_slab(spans[i]);

		if (s == NULL || s->base != spans[i])
			continue;
		CHECK_EQ(fetch_or_seq_cst(&s->owner, OWNER_PENDING), 0);
		marks++;
	}
	CHECK(marks > 0);
	release_each(spans, SPANS);
	stamp_check_nothing_left();
}

/*
 * The hint of a span's unit names a record that another thread reuses: what is
 * read of it is of two slabs, and together they seem to have a slot at the address.
 */
TEST(protocol_hint_of_a_span_that_seems_a_slab, 10)
{
	void *spans[SPANS];
	size_t seen = 0;

	spans_over_slabs(spans);
	for (size_t i = 0; i < SPANS; i++) {
		struct slab *s = map_guess_slab(spans[i]), was;

		if (s == NULL || s->base != spans[i])
			continue;
		was = *s;
		s->slots = SLAB_SLOTS;
		s->owner = OWNER_UNOWNED;
		s->free[0] = 0;
		CHECK_EQ(ash_usable_size(spans[i]), CHUNK_SIZE);
		ash_release(spans[i]);
		spans[i] = NULL;
		CHECK_EQ(s->free[0], 0);
		*s = was;
		seen++;
	}
	CHECK(seen > 0);
	release_each(spans, SPANS);
	stamp_check_nothing_left();
}

/* Two threads, as if both had been interrupted: all that they do is by compare-and-swaps. */
static void interrupted_body(void *seed)
{
	uint64_t mine[32] = {0};
	struct rt_random random;
	(void)seat_take();

	rt_seed(&random, *(const uint64_t *)seed);
	for (size_t n = rt_under_qemu() ? 20000 : 2000000; n > 0; n--) {
		uint64_t *at = &mine[rt_below(&random, 32)];
		size_t size = (size_t)16 << rt_below(&random, 8);

		if (*at != 0)
			stamp_release(*at);
		*at = stamp_set(ash_alloc(size), size, n);
	}
	for (size_t i = 0; i < 32; i++)
		if (mine[i] != 0)
			stamp_release(mine[i]);
	seat_open();
}

TEST(protocol_two_threads_on_unowned_slabs, 30)
{
	static const uint64_t seeds[2] = {3, 4};
	struct rt_thread *threads[2];

	for (size_t i = 0; i < 2; i++)
		threads[i] = rt_thread_start(interrupted_body, (void *)(uintptr_t)&seeds[i]);
	rt_threads_join(threads, 2);
	stamp_check_nothing_left();
}
