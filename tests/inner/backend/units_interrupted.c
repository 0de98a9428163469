/* SPDX-License-Identifier: MIT */
/*
 * Units are claimed and given at each instruction of a call that claims or gives units: none is lost
 * afterwards, and a chunk that is entirely free goes back.  Units that grow stay in their chunk.
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

DOES(do_claim, got = claim());
DOES(do_give, units_give(&heap_default, gift));

/* The one free unit can be claimed. */
static void gift_is_found(void)
{
	gift = got.chunk != NULL ? got : claim();
	got.chunk = NULL;
	CHECK(gift.chunk != NULL);
}

/* The hint of the gift's chunk before the call, in turn. */
static void at_each_step(void (*acting)(void), void (*call)(void), unsigned hint, unsigned then)
{
	bool more = true;
	size_t k;

	take_all();
	step_begin(acting);
	for (k = 0; more; k++) {
		region_room(gift.chunk->region)[gift.chunk->index] = (uint8_t)(k % 2 == 0 ? hint : then);
		more = with_act_at(k, call);
		if (!more && acting == do_give)
			do_give();
		gift_is_found();
	}
	CHECK(k > 20);
	give_all();
}

TEST_CALL(units_given_while_claimed, 30, at_each_step(do_give, do_claim, CHUNK_UNITS, CHUNK_UNITS));
TEST_CALL(units_claimed_while_given, 30, at_each_step(do_claim, do_give, 0, CHUNK_UNITS));

/* From each unit, for each count, to each count: exactly the units that follow, if they are free and the chunk's. */
TEST(units_extended_within_their_chunk, 10)
{
	struct units all = units_claim(&heap_default, CHUNK_UNITS, true, false), u;
	unsigned first, count, n, hole;
	struct chunk *c = all.chunk;
	uint64_t behind, word;
	bool grown;

	CHECK(c != NULL);
	for (first = 0; first < CHUNK_UNITS; first++)
		for (count = 1; first + count <= CHUNK_UNITS; count++)
			for (n = count; n <= CHUNK_UNITS + 1; n++) {
				/* All others are free; or one of them is not. */
				word = ~bits_run(first, count);
				hole = (first * 5 + n) % (2 * CHUNK_UNITS);
				word &= hole < CHUNK_UNITS ? ~((uint64_t)1 << hole) : BITS_ALL;
				store_relaxed(&c->units, word);
				store_relaxed(&heap_default.dirty, (uint64_t)CHUNK_UNITS);
				behind = first + n > CHUNK_UNITS ? 0 : bits_run(first, n) & ~bits_run(first, count);
				grown = first + n <= CHUNK_UNITS && (word & behind) == behind;
				u = (struct units){c, (uint16_t)first, (uint16_t)count, false};
				CHECK_EQ(units_extend(&heap_default, u, n), grown);
				CHECK_EQ(c->units, grown ? word & ~behind : word);
				CHECK_EQ(heap_default.dirty, CHUNK_UNITS - (grown ? n - count : 0));
			}
}
