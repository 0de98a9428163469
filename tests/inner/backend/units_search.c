/* SPDX-License-Identifier: MIT */
/* The search for free units: the hints of chunks and regions that it leaves, and those that it believes. */
#include "backend/chunk.h"
#include "backend/units.h"
#include "support/resident.h"

/* A search in vain leaves the length of the longest run, a gift at least its own. */
TEST(units_hint_is_exact_after_a_search, 10)
{
	struct units u = units_claim(&heap_default, CHUNK_UNITS, true, false), v;
	uint8_t *hint = region_room(u.chunk->region) + u.chunk->index;

	CHECK_EQ(*hint, CHUNK_UNITS); /* a claim leaves it */
	CHECK(units_claim(&heap_default, 1, false, false).chunk != u.chunk);
	CHECK_EQ(*hint, 0);
	/* A purge held several runs, which others do not find until it ends. */
	chunk_put(&heap_default, u.chunk, bits_run(5, 3) | bits_run(20, 11) | bits_run(63, 1));
	CHECK_EQ(*hint, 11);
	u.chunk->units = 0;
	*hint = 0;
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

	do {
		u = units_claim(&heap_default, CHUNK_UNITS, true, false);
		(void)promised(u.chunk);
	} while (u.chunk->region->chunks < 512);
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
	while (units_claim(&heap_default, 1, false, false).chunk != NULL)
		;
	CHECK(units_claim(&heap_default, 1, false, false).chunk == NULL && r->part == 0);
	for (i = COUNT; i-- > 0;)
		units_give(&heap_default, (struct units){region_chunk(r, at[i]), 5, 3, false});
	CHECK_EQ(r->part, UINT64_C(0x0303000000030303));
	for (i = 0; i < COUNT; i++) {
		u = units_claim(&heap_default, 3, false, false);
		CHECK(u.chunk == region_chunk(r, at[i]) && u.first == 5);
	}
	CHECK(units_claim(&heap_default, 3, false, false).chunk == NULL);
	CHECK(units_claim(&heap_default, 3, false, false).chunk == NULL);
	CHECK((r->part & ~(2 * ROOM_EACH)) == 0); /* as a search for three leaves it */
	CHECK_EQ(ash_check(), 0);
}

/* Chunks behind a chunk whose hint is too high are found, and no chunk in words behind the region's last chunk. */
TEST(units_are_searched_to_the_end, 10)
{
	struct units u, v;
	struct region *r;
	uint8_t *hints;
	size_t chunks;

	do
		u = units_claim(&heap_default, CHUNK_UNITS, true, false);
	while (u.chunk->index < 8);
	while (units_claim(&heap_default, 1, false, false).chunk != NULL)
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
	chunks = r->chunks;
	r->chunks = 8;
	CHECK(units_claim(&heap_default, 1, false, false).chunk == NULL);
	r->chunks = chunks;
	CHECK(units_claim(&heap_default, 1, false, false).chunk == u.chunk);
	CHECK_EQ(ash_check(), 0);
}

/* Units that come back as clean as they went are not counted as dirty, and are clean to the next one. */
TEST(units_given_clean_stay_clean, 10)
{
	struct heap *h = &heap_default;
	struct units u = units_claim(h, 3, true, false), v = u;
	uint32_t dirty = h->dirty, used = h->used;

	CHECK(u.clean && u.count == 3);
	(void)units_claim(h, 1, true, false); /* the chunk stays */
	for (int i = 0; i < 3; i++) {
		units_give(h, v);
		CHECK(h->dirty == dirty && h->used == used - 2);
		v = units_claim(h, 3, false, false);
		CHECK(v.chunk == u.chunk && v.first == u.first && v.clean);
	}
	v.clean = false;
	units_give(h, v);
	CHECK_EQ(h->dirty, dirty + 3);
	v = units_claim(h, 3, false, false);
	CHECK(v.first == u.first && !v.clean && h->dirty == dirty);
}
