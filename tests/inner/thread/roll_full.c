/* SPDX-License-Identifier: MIT */
/* A roll in which a new thread finds no place: the thread has no number, and so no record. */
#include "base/roll.h"
#include "inner/thread_at.h"
#include "support/blocks.h"
#include "thread/seating.h"
#include "thread/settle.h"

enum { BLOCKS = 3000 };
static void *blocks[BLOCKS], *others[BLOCKS];
static struct owner *ended;

/* So many seats, at addresses that no thread has, that all entries are in use. */
static void fill_the_roll(void)
{
	const uint64_t seats = (uint64_t)1 << 20;
	uint64_t full = 0;

	for (uint64_t i = 1; i <= seats; i++)
		full += roll_enter((void *)(uintptr_t)(i << 4)) == 0; /* NOLINT: an address */
	CHECK(full > seats / 2);
}

static void ends_without_a_word(void)
{
	alloc_each(blocks, BLOCKS, 500);
	for (size_t i = 0; i < BLOCKS; i++)
		memset(blocks[i], 1, 500); /* there is something to purge */
	ended = seat.self;
	CHECK(ended != owner_none);
}

static void comes_next(void)
{
	ash_release(NOT_NULL(ash_alloc(16)));
	ash_thread_detach();
}

/* Its guest's word would be that of a vacant record, which others may take meanwhile. */
static void has_no_number(void)
{
	uint64_t state = load_acquire(&ended->state);
	size_t room = 0;

	release_each(blocks, BLOCKS);
	alloc_each(others, BLOCKS, 500);
	release_each(others, BLOCKS);
	CHECK(seat.self == owner_none);
	CHECK(state != OWNER_VACANT);
	CHECK_EQ(reap_all(&heap_default, NULL), 0);
	CHECK_EQ(slabs_purge_others(&heap_default, NULL, &room), 0); /* it would hold slabs by no word */
	(void)ash_trim(0);
	CHECK_EQ(load_acquire(&ended->state), state);
	CHECK_EQ(ash_check(), 0);
	ash_thread_detach();
}

TEST(roll_full_takes_over_nothing, 20)
{
	ash_release(NOT_NULL(ash_alloc(1)));
	thread_at(0, comes_next);
	fill_the_roll();
	thread_at(0, ends_without_a_word);
	thread_at(0, comes_next);
	thread_at(1, has_no_number);
	CHECK_EQ(reap_all(&heap_default, seat.self), 1);
	CHECK_EQ(load_acquire(&ended->state), OWNER_VACANT);
	CHECK_EQ(ash_check(), 0);
}
