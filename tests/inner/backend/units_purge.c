/* SPDX-License-Identifier: MIT */
/*
 * Units are claimed and given at each instruction of a purge of their chunk: none is lost afterwards, and
 * a chunk that is entirely free goes back.  A trim purges dirty units wherever they lie, and no clean ones.
 */
#include "backend/chunk.h"
#include "backend/map.h"
#include "backend/retain.h"
#include "backend/units.h"
#include "base/layout.h"
#include "support/handler_at_step.h"

/* The lower half of a chunk is purged; the upper half is in use until then. */
static struct chunk *chunk;
static struct units upper, got;

DOES(do_purge, (void)chunk_purge(&heap_default, chunk));
DOES(give_upper, units_give(&heap_default, upper));

static void halve(void)
{
	struct units u = units_claim(&heap_default, CHUNK_UNITS, true, false);

	CHECK(u.chunk != NULL && u.first == 0);
	chunk = u.chunk;
	*chunk->base = 1;
	u.clean = false; /* they count as written */
	upper = u;
	upper.first = upper.count = u.count = CHUNK_UNITS / 2;
	units_give(&heap_default, u);
}

TEST(units_purge_of_a_chunk_that_gets_free, 30)
{
	bool more = true;
	size_t k;

	ash_release(ash_alloc(700));
	step_begin(give_upper);
	for (k = 0; more; k += 5) { /* a trap may take 10 us, and the k-th run has k of them */
		halve();
		more = with_act_at(k, do_purge);
		if (!more)
			give_upper();
		CHECK(!chunk_is(chunk, CHUNK_SLABS));
		CHECK_EQ(ash_check(), 0);
	}
	CHECK(k > 50);
}

/* Units that are held for the purge are missing until then, and are found afterwards. */
static void claim_half(void)
{
	unsigned u;

	got = units_claim(&heap_default, CHUNK_UNITS / 2, false, false);
	for (u = 0; got.chunk != NULL && u < got.count; u++)
		units_base(got)[u * UNIT_SIZE] = 0x5b;
}

/* Nothing that is in use was purged. */
static void holds_half(void)
{
	for (unsigned u = 0; u < got.count; u++)
		CHECK_EQ(units_base(got)[u * UNIT_SIZE], 0x5b);
}

TEST(units_claimed_while_purged, 30)
{
	bool more = true;
	size_t k;

	/* The heap's other chunk has no such run. */
	(void)units_claim(&heap_default, 1, true, false);
	while (units_claim(&heap_default, CHUNK_UNITS / 4, false, false).chunk != NULL)
		;
	step_begin(claim_half);
	for (k = 0; more; k += k < 60 ? 1 : 5) { /* a trap may take 10 us, and the k-th run has k of them */
		halve();
		got.chunk = NULL;
		more = with_act_at(k, do_purge);
		/* A search for units while all are held takes the hint away: the hint comes back. */
		CHECK(chunk->units == 0 || region_room(chunk->region)[chunk->index] != 0);
		if (got.chunk == NULL)
			claim_half();
		CHECK(got.chunk == chunk);
		holds_half();
		got.clean = false;
		units_give(&heap_default, got);
		give_upper();
		CHECK(!chunk_is(chunk, CHUNK_SLABS));
	}
	CHECK(k > 50);
}

/* Clean units are neither purged nor counted: those of the upper chunk, which is looked at first. */
TEST(units_trim_of_clean_ones, 10)
{
	char *low = ash_alloc(40000), *high;
	size_t bytes;

	do
		CHECK((high = ash_alloc(40000)) != NULL);
	while (map_find(high) == map_find(low));
	ash_trim(0);
	ash_release(low);
	bytes = ash_trim(0);
	CHECK(bytes <= 2 * UNIT_SIZE && bytes % UNIT_SIZE == 0);
}

/* Free units that all lie apart, so that the hint of their chunk is 1, are purged as any. */
TEST(units_purge_of_single_ones, 10)
{
	struct units u = units_claim(&heap_default, CHUNK_UNITS, true, false);
	bool pages = PAGE_SIZE <= UNIT_SIZE; /* else two units are one */

	u.count = 1;
	u.clean = false;
	for (u.first = 0; u.first < CHUNK_UNITS; u.first += 2)
		units_give(&heap_default, u);
	CHECK(units_claim(&heap_default, 2, false, false).chunk == NULL);
	CHECK_EQ(region_room(u.chunk->region)[u.chunk->index], 1);
	CHECK_EQ(heap_default.dirty, CHUNK_UNITS / 2);
	CHECK_EQ(heap_trim(&heap_default, 0), pages ? CHUNK_UNITS / 2 * UNIT_SIZE : 0);
	CHECK_EQ(heap_default.dirty, pages ? 0 : CHUNK_UNITS / 2);
	CHECK_EQ(ash_check(), 0);
}

/* Each unit that is the only dirty one of its chunk, the first and the last too. */
TEST(units_purge_of_one, 10)
{
	struct units u = units_claim(&heap_default, CHUNK_UNITS, true, false);

	if (PAGE_SIZE > UNIT_SIZE)
		return;
	u.count = 1;
	u.clean = false;
	for (u.first = 0; u.first < CHUNK_UNITS; u.first++) {
		*units_base(u) = 1;
		units_give(&heap_default, u);
		CHECK_EQ(heap_trim(&heap_default, 0), UNIT_SIZE);
		CHECK_EQ(*units_base(u), 0);
		got = units_claim(&heap_default, 1, false, false);
		CHECK(got.chunk == u.chunk && got.first == u.first && got.clean);
	}
}

/* Of a run that keeps its head a trim takes that, too. */
TEST(units_trim_takes_heads, 10)
{
	char *p = ash_zalloc(1, 4 * CHUNK_SIZE);

	p[0] = 1;
	ash_release(p);
	CHECK_EQ(heap_default.dirty, CHUNK_UNITS);
	CHECK(ash_trim(0) > 0);
	CHECK_EQ(heap_default.dirty, 0);
	p = ash_alloc(4 * CHUNK_SIZE);
	CHECK_EQ(p[0], 0);
	ash_release(p);
}

/* ---- two threads give memory back at the same time, one by a handler of the other ---- */

DOES(trim, (void)heap_trim(&heap_default, 0));

/* The chunk is free and dirty. */
static void retain_one(void)
{
	void *p = NOT_NULL(ash_alloc(CHUNK_SIZE));

	*(volatile char *)p = 1;
	ash_release(p);
	CHECK_EQ(heap_default.dirty, CHUNK_UNITS);
}

/*
 * A chunk that one thread purged, after the other found it dirty and before that claimed it, is
 * counted once: else `dirty` falls below 0.
 */
TEST(protocol_trim_by_two, 60)
{
	bool more = true;
	size_t k;

	step_begin(trim);
	/* Between the two looks lie more than three instructions. */
	for (k = 0; more; k += rt_in_full() ? 1 : 3) {
		retain_one();
		more = with_act_at(k, trim);
		CHECK_EQ(heap_default.dirty, 0);
		CHECK_EQ(ash_check(), 0);
	}
	CHECK(k > 100);
}
