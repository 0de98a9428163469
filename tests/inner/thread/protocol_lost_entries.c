/* SPDX-License-Identifier: MIT */
/*
 * Inbox entries that were never made, as of a thread that was stopped for good
 * between its pending bit and its inbox entry: they cost time, never memory.
 */
#include "inner/slots.h"
#include "support/another.h"
#include "support/handler_at_step.h"
#include "thread/seating.h"

/* A release by another thread that stops before it notifies the owner. */
static void release_untold(void *p)
{
	struct slot_ref at = place_of(p);

	CHECK((fetch_or_seq_cst(&at.slab->remote[at.group], at.bit) & at.bit) == 0);
	(void)fetch_or_seq_cst(&at.slab->owner, OWNER_PENDING);
}

static size_t pending(void)
{
	return stats_now().pending;
}

/* All is lost, again and again; the owner finds it before the heap gets much larger. */
TEST(protocol_lost_news_and_growth, 60)
{
	enum { SIZE = 4000, BLOCKS = 8192, ROUNDS = 8 };
	static void *blocks[BLOCKS];

	for (size_t round = 0; round < ROUNDS; round++) {
		alloc_each(blocks, BLOCKS, SIZE);
		for (size_t i = 0; i < BLOCKS; i++)
			release_untold(blocks[i]);
	}
	CHECK(stats_now().slabs < (size_t)3 * BLOCKS * SIZE);
	CHECK_EQ(ash_check(), 0);
}

enum { LEFT = 64, LEFT_SIZE = 300000 };
static void *left[LEFT];

static void leave_body(UNUSED void *argument)
{
	alloc_each(left, LEFT, LEFT_SIZE);
}

/* Before the answer is NULL, blocks are found that were released into slabs of threads that ended. */
TEST(protocol_lost_news_of_a_vacant_record, 20)
{
	void *own = ash_alloc(40); /* so that the record left behind is not taken as ours */
	size_t n;

	rt_in_thread(leave_body, NULL);
	/* While addresses are short, free chunks are unmapped: the limit leaves room for them again. */
	if (!rt_limit_address_space(rt_address_space()))
		rt_skip("no limit of address space to be had under QEMU 7.2");
	while (ash_alloc(200000) != NULL)
		;
	for (size_t i = 0; i < LEFT; i++)
		release_untold(left[i]);
	for (n = 0; ash_alloc(200000) != NULL; n++)
		CHECK(n < 10 * LEFT);
	CHECK(n >= LEFT);
	CHECK_EQ(pending(), 0);
	CHECK_EQ(ash_check(), 0);
	ash_release(own);
}

/* An owner's own releases do not go the long way for ever because of one of another's. */
TEST(protocol_mark_is_taken_off_by_own_releases, 10)
{
	void *kept = ash_alloc(64), *other = ash_alloc(64);
	struct slab *s = place_of(kept).slab;

	CHECK(place_of(other).slab == s);
	for (size_t round = 0; round < 200; round++) {
		(void)seat_take();

		ash_release(other); /* as another thread would */
		seat_open();
		CHECK((s->owner & OWNER_PENDING) != 0);
		for (size_t i = 0; i < 64; i++)
			ash_release(ash_alloc(64));
		CHECK((s->owner & OWNER_PENDING) == 0);
		CHECK_EQ(pending(), 0);
		other = ash_alloc(64);
		CHECK(place_of(other).slab == s);
	}
	ash_release(kept);
	ash_release(other);
	stamp_check_nothing_left();
}

/* ---- units that are free, and no hint tells of them ---- */

DOES(has_a_record, CHECK(ash_alloc(100) != NULL));

/* The hint of the chunk's longest run of free units. */
static uint8_t *room_of(const struct chunk *c)
{
	return (uint8_t *)c->region->room + c->index;
}

TEST(protocol_check_knows_of_units_without_hint, 10)
{
	void *p = ash_alloc(40000);
	struct chunk *c = map_find(p);

	CHECK_EQ(ash_check(), 0);
	*room_of(c) = (uint8_t)(bits_longest(c->units) - 1);
	CHECK_EQ(ash_check(), 13);
	/* Another thread may be just between the two. */
	another_stays(has_a_record);
	*room_of(c) = 0;
	CHECK_EQ(ash_check(), 0);
	another_goes();
	CHECK_EQ(ash_check(), 13);
	chunk_mend(&heap_default, c);
	CHECK_EQ(ash_check(), 0);
	ash_release(p);
}

/* ---- an inbox entry while fork_settle holds the record ---- */

enum { VANISHING = 5 };
static void *vanished[VANISHING];

/* There until the forks are over; each block is alone in its slab. */
DOES(takes_blocks, alloc_each(vanished, VANISHING, 40000));

/* The calls of a thread that the child started before its first thread needed a slab. */
DOES(release_of_vanished, ash_release(vanished[0]));
DOES(need_a_slab, CHECK(ash_alloc(9000) != NULL));

TEST(protocol_entry_in_the_midst_of_settling, 60)
{
	bool more = true;

	ash_release(ash_alloc(100));
	trap_need();
	another_stays(takes_blocks);
	step_begin(release_of_vanished);
	for (size_t k = 0; more; k += rt_in_full() ? 601 : 1801) {
		long pid = rt_fork();
		int status;

		if (pid == 0) {
			bool done = with_act_at(k, need_a_slab);

			CHECK_EQ(heap_default.settled, 1);
			CHECK_EQ(pending(), 0);
			CHECK_EQ(ash_check(), 0);
			rt_exit(done ? 2 : 3);
		}
		status = rt_wait(pid);
		CHECK(status == 2 || status == 3);
		more = status == 2;
	}
	another_goes();
}
