/* SPDX-License-Identifier: MIT */
/* Regions that the system does not take back, or not let grow: all stays as it was, and is tried again. */
#include "backend/map.h"
#include "backend/region.h"
#include "kernel.h"
#include "pages.h"
#include "program/faults.h"
#include "support/blocks.h"
#include "syscall.h"

#define GIB  ((size_t)1 << 30)
#define LEAF (MAP_SIZE << CHUNK_SHIFT) /* bytes that a leaf has the chunks of */

const struct ash_defaults ash_defaults = {.initial = CHUNK_SIZE, .retain = 10 * MIB, .sparse = 1};

/* The first memory is a region, whose records are there: it is not asked for what else could be had. */
TEST(alone_first_block_is_one_call, 10)
{
	(void)PAGE_SIZE; /* where it is not known yet it is asked for */
	faults.armed = true;
	CHECK(pages_reserve(CHUNK_SIZE, CHUNK_SIZE, PAGES_PRIVATE) != NULL);
	if (faults.calls != 1)
		rt_skip("this kernel aligns no mapping to a huge page");
	CHECK(ash_alloc(100) != NULL);
	CHECK_EQ(faults.calls, 1 + 1);
}

/* A span's own region cannot serve another span: what it has of memory goes at least. */
TEST(alone_that_stays_is_purged, 10)
{
	char *p = NOT_NULL(ash_alloc(GIB));
	size_t reserved = heap_default.reserved;

	memset(p, 1, 8 * MIB);
	faults.munmap_error = -FAULT_ENOMEM;
	ash_release(p);
	CHECK(heap_default.reserved == reserved && pages_mapped(p));
	CHECK(rt_under_qemu() || pages_count(p, 8 * MIB) == 0);
	CHECK_EQ(ash_check(), 0);
	CHECK_EQ(region_trim(&heap_default, true), 0);
	faults.munmap_error = 0;
	CHECK_EQ(region_trim(&heap_default, false), GIB);
	CHECK(heap_default.reserved == reserved - GIB / CHUNK_SIZE && map_around(p) == NULL);
	CHECK_EQ(ash_check(), 0);
}

/* The free end of a region, and then all of it: it is there, and the next spans have it. */
TEST(alone_usual_region_that_stays, 10)
{
	char *p = NOT_NULL(ash_alloc(20 * CHUNK_SIZE)), *q = NOT_NULL(ash_alloc(10 * CHUNK_SIZE));
	struct region *r = region_of(&heap_default, p);
	size_t reserved = heap_default.reserved;

	CHECK(r == region_of(&heap_default, q));
	for (int all = 0; all < 2; all++) {
		q[0] = 1;
		ash_release(q);
		if (all)
			ash_release(p);
		faults.munmap_error = -FAULT_ENOMEM;
		for (int i = 0; i < 3; i++)
			CHECK_EQ(region_cut(&heap_default, r), 0);
		CHECK(r->state == REGION_LIVE && r->chunks == 30 && heap_default.reserved == reserved);
		CHECK_EQ(64 - bits_unset(r->free, 0, 64), all ? 30 : 10); /* none behind its chunks */
		CHECK_EQ(ash_check(), 0);
		faults.munmap_error = 0;
		if (all)
			CHECK(ash_alloc(20 * CHUNK_SIZE) == p);
		CHECK(ash_alloc(10 * CHUNK_SIZE) == q);
		CHECK_EQ(heap_default.reserved, reserved);
	}
	ash_release(p);
	ash_release(q);
	CHECK_EQ(region_trim(&heap_default, false), 30 * CHUNK_SIZE);
	CHECK_EQ(ash_check(), 0);
}

/* No memory for the leaf that a span would grow into: it does not grow, and has no byte more. */
TEST(alone_without_a_leaf, 10)
{
	char *first = NOT_NULL(ash_alloc(GIB)), *border = first - 4 * LEAF - (uintptr_t)first % LEAF, *p;
	char *other = border + GIB; /* somebody else's */
	size_t reserved, space, usable;
	struct region *r;

	faults.place = border - GIB - GIB / 4;
	p = ash_alloc(GIB);
	CHECK(p == border - GIB - GIB / 4 && faults.place == NULL);
	r = map_around(p)->region;
	usable = ash_usable_size(p);
	reserved = heap_default.reserved;
	space = rt_address_space();
	CHECK_EQ(arch_mmap(other, CHUNK_SIZE, 0, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), (long)other);
	space += CHUNK_SIZE;
	faults.mmap_not = sizeof(struct map_leaf);
	CHECK(!region_extend(r, 2 * GIB));
	CHECK(region_bytes(r) == GIB && heap_default.reserved == reserved && ash_usable_size(p) == usable);
	CHECK(rt_under_qemu() || rt_address_space() == space);
	CHECK(map_around(border) == NULL && pages_mapped(other) && ash_check() == 0);
	faults.mmap_not = 0;
	CHECK(region_extend(r, 2 * GIB));
	CHECK_EQ(heap_default.reserved, reserved + GIB / CHUNK_SIZE);
	CHECK(map_around(border) == map_around(p) && map_around(p) == region_chunk(r, 0));
	CHECK(region_shrink(r, GIB));
	ash_release(p);
	ash_release(first);
	CHECK_EQ(ash_check(), 0);
}
