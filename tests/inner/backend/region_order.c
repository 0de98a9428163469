/* SPDX-License-Identifier: MIT */
/* Which memory is used first, the oldest region's; and which is purged first, the newest region's. */
#include "ashlar.h"
#include "backend/map.h"
#include "backend/retain.h"
#include "rt.h"

enum { REGIONS = 4, BLOCKS = 64 };

static struct heap *const h = &heap_default;

/* Regions of spans and slabs: in the list as they came, whatever they are for. */
static size_t regions(void)
{
	struct region *r, *before = NULL;
	size_t n = 0;

	for (r = region_first(h); r != NULL; before = r, r = region_next(r), n++)
		CHECK(r->previous == before);
	return n;
}

TEST(inner_order_of_regions, 10)
{
	static char *blocks[BLOCKS];
	struct region *first, *last;
	size_t n = 0, i, kept;

	blocks[n++] = ash_alloc(CHUNK_SIZE);
	first = last = map_find(blocks[0])->region;
	CHECK(first == region_first(h));
	for (i = 1; i < REGIONS; i++) {
		CHECK_EQ(regions(), i);
		while (regions() == i) {
			CHECK(n < BLOCKS);
			blocks[n] = ash_alloc(CHUNK_SIZE);
			memset(blocks[n++], 1, CHUNK_SIZE);
		}
		CHECK(region_next(last) == map_find(blocks[n - 1])->region);
		last = region_next(last);
	}
	h->floor = 2 * BLOCKS * CHUNK_UNITS; /* all of it stays */
	while (n > 0)
		ash_release(blocks[--n]);
	/* Half of it goes: all that stays is older than all that went. */
	kept = load_relaxed(&h->dirty) / 2;
	CHECK(heap_trim(h, kept * UNIT_SIZE) > 0);
	CHECK(!region_is_clean((struct run){first, 0}, first->chunks));
	CHECK(region_is_clean((struct run){last, 0}, last->chunks));
	/* The first claims are the oldest chunks again. */
	CHECK(map_find(ash_alloc(CHUNK_SIZE))->region == first);
	CHECK(ash_alloc(100) != NULL);
	CHECK_EQ(ash_check(), 0);
}

/* Large slabs prefer later regions, take what is free in the first ones before the heap grows. */
TEST(inner_order_of_large_slabs, 10)
{
	enum { EARLY = 16, LATE = 8 }; /* of two to a chunk */
	char *blocks[EARLY + LATE], *small;
	size_t i, reserved;

	for (i = 0; i < EARLY + LATE; i++) {
		blocks[i] = ash_alloc(MIB);
		CHECK_EQ(map_find(blocks[i])->region->chunks >= 8, i >= EARLY);
	}
	reserved = h->reserved;
	ash_release(blocks[1]);
	ash_release(blocks[EARLY + 3]);
	(void)ash_trim(SIZE_MAX);
	CHECK(ash_alloc(MIB) == (void *)blocks[EARLY + 3]);
	CHECK(ash_alloc(MIB) == (void *)blocks[1]);
	ash_release(blocks[1]);
	ash_release(blocks[EARLY + 3]);
	(void)ash_trim(SIZE_MAX);
	small = ash_alloc(3000);
	CHECK(small - (uintptr_t)small % UNIT_SIZE == blocks[1]);
	CHECK_EQ(h->reserved, reserved);
	CHECK_EQ(ash_check(), 0);
}
