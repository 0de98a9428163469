/* SPDX-License-Identifier: MIT */
/* A roll in which a new thread finds no place: the thread has no number, and so no record. */
#include "base/roll.h"
#include "inner/thread_at.h"
#include "pages.h"
#include "process.h"
#include "support/blocks.h"
#include "thread/seating.h"
#include "thread/settle.h"

enum { BLOCKS = 3000 };
static void *blocks[BLOCKS], *others[BLOCKS];
static struct owner *ended;

enum { SEATS = 5 << 16, SEAT = 16 }; /* twice the entries */

/* The address space of so many seats, which no thread has. */
static char *seats_map(void)
{
	return NOT_NULL(pages_reserve((size_t)SEATS * SEAT, PAGE_MOST, PAGES_PRIVATE));
}

/* So many seats that all entries are in use, by threads that may be running. */
static void fill_the_roll(void)
{
	char *seats = seats_map();
	size_t full = 0, i;

	for (i = 0; i < SEATS; i++)
		full += roll_enter(seats + i * SEAT) == 0;
	CHECK(full > SEATS / 2);
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

/* Threads at ever new addresses, as where each stack is mapped and unmapped: each has a number, and their ends are known. */
TEST(roll_full_of_ended_threads, 20)
{
	const size_t step = 64;
	char *seats = seats_map(), *later = seats_map();
	uint64_t *numbers = NOT_NULL(ash_zalloc(SEATS, sizeof *numbers)), number;
	size_t left = 0, i;

	for (i = 0; i < SEATS; i++)
		numbers[i] = roll_enter(seats + i * SEAT);
	CHECK_EQ(roll_enter(later), 0);
	(void)pages_release(seats, (size_t)SEATS * SEAT);
	if (rt_under_qemu() && !process_thread_has_left(seats, 0))
		rt_skip("the emulator does not tell what is unmapped");
	for (i = 0; i < SEATS; i += step) {
		number = roll_enter(later + i * SEAT);
		CHECK(number != 0 && !roll_has_left(number));
		CHECK(roll_seat(number) == later + i * SEAT);
	}
	for (i = 0; i < SEATS; i++)
		left += numbers[i] != 0 && roll_has_left(numbers[i]);
	CHECK_EQ(left, SEATS / step);
}
