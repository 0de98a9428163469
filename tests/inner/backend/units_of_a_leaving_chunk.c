/* SPDX-License-Identifier: MIT */
/*
 * A unit is claimed at each instruction of the call that gives a chunk's last units back: the chunk goes, or stays,
 * and then its hint says how many units are left.
 */
#include "backend/chunk.h"
#include "backend/units.h"
#include "support/handler_at_step.h"

static struct units whole, got;

DOES(claim_one, got = units_claim(&heap_default, 1, false, false));
DOES(give_whole, units_give(&heap_default, whole));

TEST(units_claimed_while_a_chunk_goes, 30)
{
	size_t k, stayed = 0, went = 0, behind = 0;
	struct chunk *c;
	bool more = true;

	ash_release(ash_alloc(700));
	for (k = 0; more && behind < 20; k++) {
		whole = units_claim(&heap_default, CHUNK_UNITS, true, false);
		c = whole.chunk;
		while (units_claim(&heap_default, 1, false, false).chunk != NULL)
			; /* elsewhere */
		/* One of its units was free before: so it is found, and the hint is for one. */
		region_room(c->region)[c->index] = 1;
		*region_part(c->region, c->index) = 1;
		got.chunk = NULL;
		step_begin(claim_one);
		more = with_act_at(k, give_whole);
		if (got.chunk == NULL) {
			CHECK(chunk_is(c, CHUNK_FREE));
			went++;
			behind += stayed > 0; /* it is over */
			continue;
		}
		CHECK(got.chunk == c && chunk_is(c, CHUNK_SLABS));
		CHECK(region_room(c->region)[c->index] >= bits_longest(c->units));
		stayed++;
		units_give(&heap_default, got);
		CHECK(chunk_is(c, CHUNK_FREE));
	}
	CHECK(stayed > 0 && went > 0);
	CHECK_EQ(ash_check(), 0);
}
