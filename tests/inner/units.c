/* SPDX-License-Identifier: MIT */
/*
 * Units are claimed and given at each instruction of a call that claims or gives units: none is lost
 * afterwards, and a chunk that is entirely free goes back.
 */
#include "backend/chunk.h"
#include "backend/units.h"
#include "support/handler_at_step.h"

static struct units stock[4 * CHUNK_UNITS];
static unsigned stocked;
static struct units gift, got;

static struct units claim(void)
{
	return units_claim(&heap_default, 1, false, false);
}

/* The test claims all units one by one; the hint of the first chunk says that some are free. */
static void take_all(void)
{
	struct units u;

	ash_release(ash_alloc(700));
	for (u = claim(); u.chunk != NULL; u = claim()) {
		CHECK(stocked < 4 * CHUNK_UNITS);
		stock[stocked++] = u;
	}
	CHECK(stocked > 0);
	gift = stock[--stocked];
}

static void give_all(void)
{
	units_give(&heap_default, gift);
	while (stocked > 0)
		units_give(&heap_default, stock[--stocked]);
	ash_trim(0);
	CHECK_EQ(ash_check(), 0);
}

static void do_claim(void)
{
	got = claim();
}

static void do_give(void)
{
	units_give(&heap_default, gift);
}

/* The one free unit can be claimed. */
static void gift_is_found(void)
{
	gift = got.chunk != NULL ? got : claim();
	got.chunk = NULL;
	CHECK(gift.chunk != NULL);
}

TEST(units_given_while_claimed, 30)
{
	bool more = true;
	size_t k;

	take_all();
	step_begin(do_give);
	for (k = 0; more; k++) {
		((uint8_t *)gift.chunk->region->room)[gift.chunk->index] = CHUNK_UNITS;
		more = with_act_at(k, do_claim);
		if (!more)
			units_give(&heap_default, gift);
		gift_is_found();
	}
	CHECK(k > 20);
	give_all();
}

TEST(units_claimed_while_given, 30)
{
	bool more = true;
	size_t k;

	take_all();
	step_begin(do_claim);
	for (k = 0; more; k++) {
		((uint8_t *)gift.chunk->region->room)[gift.chunk->index] = k % 2 != 0 ? CHUNK_UNITS : 0;
		more = with_act_at(k, do_give);
		gift_is_found();
	}
	CHECK(k > 20);
	give_all();
}
