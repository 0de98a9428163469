/* SPDX-License-Identifier: MIT */
/*
 * Units are claimed and given at each instruction of a call that claims, gives or purges units:
 * none is lost afterwards, and a chunk that is entirely free goes back.
 */
#include "backend/chunk.h"
#include "backend/map.h"
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

/* A search in vain leaves the length of the longest run, a gift at least its own. */
TEST(units_hint_is_exact_after_a_search, 10)
{
	struct units u = units_claim(&heap_default, CHUNK_UNITS, true, false), v;
	uint8_t *hint = region_room(u.chunk->region) + u.chunk->index;

	CHECK_EQ(*hint, CHUNK_UNITS); /* a claim leaves it */
	CHECK(units_claim(&heap_default, 1, false, false).chunk != u.chunk);
	CHECK_EQ(*hint, 0);
	v = u;
	v.first = 5;
	v.count = 3;
	units_give(&heap_default, v);
	CHECK_EQ(*hint, 3);
	v.first = 8;
	v.count = 2;
	units_give(&heap_default, v);
	CHECK_EQ(*hint, 5);
	v = units_claim(&heap_default, 5, false, false);
	CHECK(v.chunk == u.chunk && v.first == 5);
	/* Multiples come first, and are needed for slots of 4 units. */
	units_give(&heap_default, (struct units){u.chunk, 9, 10, false});
	v = units_claim(&heap_default, units_for(class_of(100000), 4), false, false);
	CHECK(v.chunk == u.chunk && v.first == 12);
	v = units_claim(&heap_default, units_for(class_of(4 * UNIT_SIZE), 4), false, false);
	CHECK(v.chunk != u.chunk);
	v = units_claim(&heap_default, units_for(class_of(90000), 3), false, false);
	CHECK(v.chunk == u.chunk && v.first == 9);
	CHECK_EQ(ash_check(), 0);
}

/*
 * region.part: what a search in vain leaves, and a gift raises.  One that is too low is believed,
 * until the heap would grow.
 */
TEST(units_of_a_region_that_seems_full, 10)
{
	struct units u = units_claim(&heap_default, CHUNK_UNITS, true, false), v;
	struct region *r = u.chunk->region;
	uint64_t chunks = heap_default.slab_chunks;

	CHECK_EQ(*region_part(r, u.chunk->index), CHUNK_UNITS);
	/* The first search in vain leaves the chunk's hint, the second one the region's. */
	while (units_claim(&heap_default, 1, false, false).chunk != NULL)
		;
	CHECK(units_claim(&heap_default, 1, false, false).chunk == NULL);
	CHECK_EQ(r->part, 0);
	v = (struct units){u.chunk, 5, 3, false};
	units_give(&heap_default, v);
	CHECK_EQ(*region_part(r, u.chunk->index), 3);
	CHECK(units_claim(&heap_default, 3, false, false).chunk == u.chunk); /* exactly as long */
	units_give(&heap_default, v);
	CHECK(units_claim(&heap_default, 4, false, false).chunk == NULL);
	CHECK_EQ(*region_part(r, u.chunk->index), 3);
	*region_part(r, u.chunk->index) = 2;
	CHECK(units_claim(&heap_default, 3, false, false).chunk == NULL);
	v = units_claim(&heap_default, 3, true, false);
	CHECK(v.chunk == u.chunk && v.first == 5);
	CHECK_EQ(heap_default.slab_chunks, chunks);
	/* The hint of the chunk is large enough, as if another thread had just set it. */
	units_give(&heap_default, v);
	*region_part(r, u.chunk->index) = 0;
	units_give(&heap_default, (struct units){u.chunk, 9, 1, false});
	CHECK(*region_part(r, u.chunk->index) >= 3);
	CHECK_EQ(ash_check(), 0);
}

/*
 * Before the heap grows region.part is not believed, but of large regions, in which a search takes
 * long: of these it is before the answer is NULL.  No such search raises it.
 */
TEST(units_of_a_large_region_that_seems_full, 30)
{
	struct ash_defaults own = ash_defaults;
	struct units u, three;
	struct region *r;
	uint64_t chunks;

	do
		u = units_claim(&heap_default, CHUNK_UNITS, true, false);
	while (u.chunk->region->chunks < 512);
	r = u.chunk->region;
	while (units_claim(&heap_default, 1, false, false).chunk != NULL)
		;
	CHECK(units_claim(&heap_default, 1, false, false).chunk == NULL && r->part == 0);
	three = (struct units){u.chunk, 5, 3, false};
	units_give(&heap_default, three);
	*region_part(r, u.chunk->index) = 2;
	chunks = heap_default.slab_chunks;
	CHECK(units_claim(&heap_default, 3, true, false).chunk != NULL);
	CHECK_EQ(heap_default.slab_chunks, chunks + 1); /* which may be in r: then the part's byte is right again */
	while (units_claim(&heap_default, 1, false, false).chunk != NULL)
		;
	CHECK(units_claim(&heap_default, 1, false, false).chunk == NULL);
	units_give(&heap_default, three);
	*region_part(r, u.chunk->index) = 1;
	/* It cannot grow: all its chunks are taken. */
	own.cap = heap_default.reserved * CHUNK_SIZE;
	heap_default.options = &own;
	while (region_claim(&heap_default, 1, 1, true).region != NULL)
		;
	CHECK(units_claim(&heap_default, 4, true, false).chunk == NULL);
	CHECK_EQ(*region_part(r, u.chunk->index), 1);
	u = units_claim(&heap_default, 3, true, false);
	CHECK(u.chunk == three.chunk && u.first == 5);
	heap_default.options = &ash_defaults;
}

/* The first and the last chunk of words and parts: each is found, the lowest one first, and only once. */
TEST(units_of_each_part_of_a_region, 30)
{
	static const unsigned at[] = {0, 7, 8, 63, 64, 127, 128, 447, 448, 504, 511};
	enum { COUNT = sizeof at / sizeof *at };
	struct units u;
	struct region *r;
	unsigned i;

	do
		u = units_claim(&heap_default, CHUNK_UNITS, true, false);
	while (u.chunk->region->chunks < 512 || u.chunk->index < 511);
	r = u.chunk->region;
	CHECK(r->chunks == 512 && r->part_words == 8);
	while (claim().chunk != NULL)
		;
	CHECK(claim().chunk == NULL && r->part == 0);
	for (i = COUNT; i-- > 0;)
		units_give(&heap_default, (struct units){region_chunk(r, at[i]), 5, 3, false});
	CHECK_EQ(r->part, UINT64_C(0x0303000000030303));
	for (i = 0; i < COUNT; i++) {
		u = units_claim(&heap_default, 3, false, false);
		CHECK(u.chunk == region_chunk(r, at[i]) && u.first == 5);
	}
	CHECK(units_claim(&heap_default, 3, false, false).chunk == NULL);
	CHECK(units_claim(&heap_default, 3, false, false).chunk == NULL);
	CHECK((r->part & ~(2 * ROOM_EACH)) == 0); /* what a search for three leaves */
	CHECK_EQ(ash_check(), 0);
}

/* Chunks behind one whose hint is too high are found. */
TEST(units_are_searched_to_the_end, 10)
{
	struct units u, v;
	struct region *r;
	uint8_t *hints;

	do
		u = units_claim(&heap_default, CHUNK_UNITS, true, false);
	while (u.chunk->index < 8);
	while (claim().chunk != NULL)
		;
	r = u.chunk->region;
	hints = region_room(r);
	CHECK_EQ(hints[u.chunk->index + 1], 0); /* the chunk that was opened for the last claim served it */
	units_give(&heap_default, (struct units){u.chunk, 4, 2, false});
	hints[u.chunk->index - 1] = CHUNK_UNITS;
	*region_part(r, u.chunk->index - 1) = CHUNK_UNITS;
	v = units_claim(&heap_default, 2, false, false);
	CHECK(v.chunk == u.chunk && v.first == 4 && hints[u.chunk->index - 1] == 0);
	units_give(&heap_default, v);
	CHECK(claim().chunk == u.chunk);
	CHECK_EQ(ash_check(), 0);
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

/* ---- a purge of the lower half of a chunk; the upper half is in use until then ---- */

static struct chunk *chunk;
static struct units upper;

static void do_purge(void)
{
	(void)chunk_purge(&heap_default, chunk);
}

static void give_upper(void)
{
	units_give(&heap_default, upper);
}

static void halve(void)
{
	struct units u = units_claim(&heap_default, CHUNK_UNITS, true, false);

	CHECK(u.chunk != NULL && u.first == 0);
	chunk = u.chunk;
	*chunk->base = 1;
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

/* Units that are held for the purge are missing meanwhile, and are found afterwards. */
static void claim_half(void)
{
	got = units_claim(&heap_default, CHUNK_UNITS / 2, false, false);
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
	for (k = 0; more; k += 5) { /* a trap may take 10 us, and the k-th run has k of them */
		halve();
		got.chunk = NULL;
		more = with_act_at(k, do_purge);
		if (got.chunk == NULL)
			claim_half();
		CHECK(got.chunk == chunk);
		units_give(&heap_default, got);
		give_upper();
		CHECK(!chunk_is(chunk, CHUNK_SLABS));
	}
	CHECK(k > 50);
}

/* What is clean is not purged, nor counted: the upper chunk, which is looked at first. */
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

/* A chunk that takes memory fresh from the system is offset by free units that are purged. */
TEST(units_of_a_fresh_chunk_are_offset, 10)
{
	enum { HALVES = 20 };
	struct units u[HALVES];
	uint64_t dirty;

	for (unsigned i = 0; i < HALVES; i++)
		u[i] = units_claim(&heap_default, CHUNK_UNITS, true, false);
	for (unsigned i = 0; i < HALVES; i++)
		units_give(&heap_default, (struct units){u[i].chunk, CHUNK_UNITS / 2, CHUNK_UNITS / 2, false});
	dirty = heap_default.dirty;
	CHECK(dirty >= HALVES * CHUNK_UNITS / 2);
	CHECK(units_claim(&heap_default, CHUNK_UNITS, true, false).chunk != NULL);
	CHECK_EQ(heap_default.dirty, dirty - CHUNK_UNITS);
	CHECK_EQ(ash_check(), 0);
}
