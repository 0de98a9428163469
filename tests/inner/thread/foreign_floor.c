/* SPDX-License-Identifier: MIT */
/*
 * How much may stay of what others emptied: up to twice the floor.  A round over the chunks that lies in two bursts
 * counts a half of what is kept, and so the floor is as little as that.
 */
/* promises: ash_release, ash_heap_release */
#include "ashlar_heap.h"
#include "backend/map.h"
#include "heaps/instance.h"
#include "pages.h"
#include "slab/slab.h"
#include "support/another.h"
#include "support/blocks.h"
#include "support/shared_heap.h"
#include "thread/seat.h"
#include "thread/settle.h"

enum { SIZE = 100000, UNITS = 4, BLOCKS = 640, SHARED = 20 }; /* a slab of one slot each */
static void *blocks[BLOCKS];

static void takes_all(void)
{
	for (size_t i = 0; i < BLOCKS; i++)
		blocks[i] = memset(NOT_NULL(ash_alloc(SIZE)), 1, SIZE);
}

/* The units that are purged while a burst is released. */
static size_t purged_with(uint64_t floor)
{
	size_t purged = 0;

	another_stays(takes_all);
	store_relaxed(&heap_default.floor, floor);
	release_each(blocks, BLOCKS);
	CHECK_EQ(load_relaxed(&heap_default.floor), floor);
	for (size_t i = 0; i < BLOCKS; i++) {
		const struct slab *s = map_guess_slab(blocks[i]);

		CHECK(s->base == blocks[i] && s->units == UNITS);
		purged += load_relaxed(&s->purged) != 0 ? UNITS : 0;
	}
	another_goes();
	rt_print("     floor %zu: %zu of %d units purged\n", (size_t)floor, purged, BLOCKS * UNITS);
	return purged;
}

TEST(foreign_floor_is_doubled, 20)
{
	ash_release(NOT_NULL(ash_alloc(1)));
	CHECK_EQ(purged_with((BLOCKS * UNITS + 1) / 2), 0);
}

/* A quarter of what else is in use stays besides. */
TEST(foreign_floor_is_the_most, 20)
{
	const size_t all = BLOCKS * UNITS, floor = all / 4;

	if (PAGE_SIZE > UNIT_SIZE)
		rt_skip("a unit is less than a page: what others emptied stays");
	ash_release(NOT_NULL(ash_alloc(1)));
	CHECK(purged_with(floor) >= all - 2 * floor - all / 4);
}

/* Of options.retain 0 nothing is a quarter, and of what is in use then neither. */
TEST(foreign_without_retain, 20)
{
	static struct ash_defaults none;

	if (PAGE_SIZE > UNIT_SIZE)
		rt_skip("a unit is less than a page: what others emptied stays");
	none = *heap_default.options;
	none.retain = 0;
	heap_default.options = &none;
	heap_default.used += 1 << 16; /* as if so much more were in use */
	CHECK(purged_with(0) >= BLOCKS * UNITS - 64 - UNITS); /* until the first look */
	heap_default.used -= 1 << 16;
}

/* A shared heap's slabs are not held by guests, as one may die: there nothing of this is counted. */
static ash_heap *shared;

static void takes_some_of_it(void)
{
	for (size_t i = 0; i < SHARED; i++)
		blocks[i] = NOT_NULL(ash_heap_alloc(shared, SIZE));
}

TEST(foreign_not_in_a_shared_heap, 10)
{
	shared = shared_heap(16 * MIB);
	ash_heap_release(shared, ash_heap_alloc(shared, 1));
	another_stays(takes_some_of_it);
	for (size_t i = 0; i < SHARED; i++)
		ash_heap_release(shared, blocks[i]);
	CHECK_EQ(load_relaxed(&heap_of(shared)->idle.told) + load_relaxed(&heap_of(shared)->idle.found), 0);
	another_goes();
	ash_heap_destroy(shared);
}
