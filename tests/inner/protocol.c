/* SPDX-License-Identifier: MIT */
/*
 * Moments of the protocol between threads that chance seldom shows, made by
 * hand: one thread plays both, stopping where the other might be stopped.
 */
#include "inner/slots.h"
#include "support/stamp.h"
#include "thread/adopt.h"
#include "thread/collect.h"
#include "thread/inbox.h"
#include "thread/owner.h"
#include "thread/seat.h"
#include "thread/seating.h"

/* A block of a slab that nobody owns: what a handler gets that interrupted a call. */
static void *shared_alloc(size_t size)
{
	struct owner *o = seat_take();
	void *p = ash_alloc(size); /* the seat is empty, but it is somebody's */

	CHECK(o != NULL && p != NULL);
	seat_open();
	CHECK((place_of(p).slab->owner & OWNER_UNOWNED) != 0);
	return p;
}

TEST(protocol_late_mark_on_a_shared_slab, 10)
{
	void *p = shared_alloc(100);
	struct slot_ref at = place_of(p);
	struct ash_stats st;

	/* Of a thread that released into the slab which was here before. */
	fetch_or_seq_cst(&at.slab->owner, OWNER_PENDING);
	ash_release(p);
	ash_stats(&st);
	CHECK_EQ(st.pending, 0);
	CHECK_EQ(st.blocks, 0);
	CHECK_EQ(ash_check(), 0);
	/* The slot is free for others again: the lowest one, so it comes next. */
	CHECK(shared_alloc(100) == p);
	ash_release(p);
	/* And a walk finds the slab, without the hint. */
	heap_default.unowned[at.slab->class] = NULL;
	CHECK(shared_alloc(100) == p);
	ash_release(p);
	stamp_check_nothing_left();
}

/* What a releasing thread does up to a certain point. */
static uint64_t remote_until_mark(struct slot_ref at)
{
	fetch_or_seq_cst(&at.slab->remote[at.group], at.bit);
	return fetch_or_seq_cst(&at.slab->owner, OWNER_PENDING);
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
	struct slot_ref at;
	uint64_t owner;

	rt_thread_join(rt_thread_start(leave_body, NULL));
	at = place_of(left);
	owner = remote_until_mark(at);
	CHECK_EQ(((struct owner *)owner)->state, OWNER_VACANT);
	inbox_notify((struct owner *)owner, at.slab);
	collect_vacant((struct owner *)owner);
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
	struct slot_ref at;
	uint64_t owner;

	rt_thread_join(rt_thread_start(leave_body, NULL));
	at = place_of(left);
	owner = remote_until_mark(at);
	o = seat_take();
	CHECK(adopt_slabs(o, at.slab->class, false));
	CHECK_EQ(at.slab->owner, (uint64_t)(uintptr_t)o); /* and the mark is off */
	seat_open();
	ash_stats(&st);
	CHECK_EQ(st.pending, 0);
	/* The letter comes to the old owner, where it means nothing. */
	inbox_notify((struct owner *)owner, at.slab);
	collect_vacant((struct owner *)owner);
	ash_release(own);
	stamp_check_nothing_left();
}

/* A mark comes to a slab that is gone, and a span lies there by now. */
TEST(protocol_late_mark_where_a_span_is, 10)
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
	for (size_t i = 0; i < SPANS; i++)
		ash_release(spans[i]);
	stamp_check_nothing_left();
}

/*
 * The hint of a span's unit names a record that another thread makes anew: what is
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
	for (size_t i = 0; i < SPANS; i++)
		ash_release(spans[i]);
	stamp_check_nothing_left();
}

/* Two threads, as if both had been interrupted: all that they do is by swaps. */
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

TEST(protocol_two_threads_on_the_shared_route, 30)
{
	static const uint64_t seeds[2] = {3, 4};
	struct rt_thread *threads[2];

	for (size_t i = 0; i < 2; i++)
		threads[i] = rt_thread_start(interrupted_body, (void *)(uintptr_t)&seeds[i]);
	for (size_t i = 0; i < 2; i++)
		rt_thread_join(threads[i]);
	stamp_check_nothing_left();
}

/* The inbox is full: the class is marked; nothing gets lost. */
TEST(protocol_more_letters_than_the_inbox_holds, 10)
{
	enum { SLABS = 3 * INBOX_SLABS, SIZE = 20000 };
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
	CHECK((o->pending_classes[0] | o->pending_classes[1]) != 0);
	collect_inbox(o);
	seat_open();
	ash_stats(&st);
	CHECK_EQ(st.pending, 0);
	CHECK_EQ(st.blocks, 0);
	CHECK_EQ(ash_check(), 0);
	/* Slabs that got empty in the walk went back, but for the few spares. */
	n = st.slabs;
	CHECK(n <= 2 * SPARE_UNITS * UNIT_SIZE);
	stamp_check_nothing_left();
}

static void alloc_all(size_t size, void **blocks, size_t n)
{
	for (size_t i = 0; i < n; i++)
		CHECK((blocks[i] = ash_alloc(size)) != NULL);
}

static void release_some(void *const *blocks, size_t n)
{
	while (n > 0)
		ash_release(blocks[--n]);
}

/*
 * A walk over [first, spare, last]: first gets empty and is a spare, too; that
 * must not drive out the old one, where the walk goes on.
 */
TEST(protocol_walk_over_a_spare, 10)
{
	enum { SIZE = 20000, SLOTS = 6 };
	static const size_t others[] = {18000, 24000, 30000, 17000, 22000};
	enum { OTHERS = sizeof others / sizeof others[0] };
	void *blocks[4 * SLOTS], *other[SLOTS], *few[OTHERS + 1][2];
	struct ash_stats st;
	struct owner *o;
	struct slab *s;

	/* The first slabs of a class are smaller: they stay full. */
	for (size_t i = 0; i < OTHERS; i++)
		alloc_all(others[i], few[i], 2);
	alloc_all(SIZE, few[OTHERS], 2);
	alloc_all(SIZE, blocks, 4 * SLOTS);
	s = place_of(blocks[0]).slab;
	CHECK_EQ(s->slots, SLOTS);
	CHECK(s == place_of(blocks[SLOTS - 1]).slab);
	release_some(blocks, 1);
	release_some(blocks + SLOTS, SLOTS);
	release_some(blocks + 2 * SLOTS, 1);
	CHECK(place_of(blocks[SLOTS + 1]).slab->spare);
	/* The spares' places are all taken. */
	for (size_t i = 0; i < OTHERS; i++) {
		s = place_of(blocks[SLOTS + 1]).slab;
		if (seat.self->spares[0] != s || seat.self->spare_count * s->units >= SPARE_UNITS)
			break;
		alloc_all(others[i], other, 4);
		release_some(other, 4);
	}
	CHECK(seat.self->spares[0] == place_of(blocks[SLOTS + 1]).slab);
	o = seat_take();
	release_some(blocks + 1, SLOTS - 1);
	release_some(blocks + 2 * SLOTS + 1, 1);
	/* The letters are lost. */
	memset(o->pending_slabs, 0, sizeof o->pending_slabs);
	collect_all(o);
	seat_open();
	ash_stats(&st);
	CHECK_EQ(st.pending, 0);
	CHECK_EQ(ash_check(), 0);
	release_some(blocks + 2 * SLOTS + 2, 2 * SLOTS - 2);
	for (size_t i = 0; i <= OTHERS; i++)
		release_some(few[i], 2);
	stamp_check_nothing_left();
}

/* What others released into the current slab comes before groups that were never touched. */
TEST(protocol_remote_before_untouched, 10)
{
	void *blocks[GROUP_SLOTS];
	struct slab *s;

	alloc_all(48, blocks, GROUP_SLOTS);
	s = place_of(blocks[0]).slab;
	CHECK(s->opened == 1 && s->groups > 1);
	(void)seat_take();
	release_some(blocks, 3);
	seat_open();
	alloc_all(48, blocks, 3);
	CHECK_EQ(s->opened, 1);
	CHECK_EQ(ash_check(), 0);
	release_some(blocks, GROUP_SLOTS);
	stamp_check_nothing_left();
}
