/* SPDX-License-Identifier: MIT */
/*
 * Regions far apart: in leaves of the map of their own, and with units that share
 * their entries in the map's hint.  The system is made to place them just so.
 */
#include "backend/region.h"
#include "inner/slots.h"
#include "program/child.h"
#include "program/faults.h"
#include "slab/slab.h"
#include "support/blocks.h"
#include "support/misuse.h"

#define LEAF	 (MAP_SIZE << CHUNK_SHIFT) /* bytes that a leaf has the chunks of */
#define DISTANCE (4 * LEAF)
_Static_assert(DISTANCE % (MAP_UNITS << UNIT_SHIFT) == 0, "the same entry of the hint");

/* The first block, and one whose chunk is `n` distances below it. */
static char *first, *second;
enum { SPAN = 40 << 20 };

static char *span_at(char *where)
{
	char *p;

	faults.place = where;
	p = ash_alloc(SPAN);
	CHECK_EQ(faults.place, 0);
	CHECK(p == where);
	memset(p, 1, 4096);
	return p;
}

static void place_two(void)
{
	first = NOT_NULL(ash_alloc(SPAN));
	second = span_at(first - DISTANCE);
	CHECK_EQ(ash_check(), 0);
}

TEST(map_leaves_find, 10)
{
	char *third;

	place_two();
	third = span_at(first - 3 * DISTANCE);
	CHECK(map_unit(second) == map_unit(first));
	CHECK(map_find(first) != map_find(second) && map_find(second) != map_find(third));
	CHECK(map_find(second)->base == second);
	CHECK(ash_usable_size(first) == SPAN && ash_usable_size(second) == SPAN);
	/* A pointer of the right entry, in no region. */
	CHECK(map_find(first - 2 * DISTANCE) == NULL);
	CHECK(map_find(first + DISTANCE) == NULL);
	CHECK(map_find(first - LEAF) == NULL);
	ash_release(second);
	CHECK_EQ(ash_check(), 0);
	CHECK_EQ(ash_usable_size(first), SPAN);
	CHECK_EQ(ash_usable_size(third), SPAN);
	ash_release(third);
	ash_release(first);
	CHECK_EQ(ash_check(), 0);
}

/* Checks that each unit leads to the slab's record: by its head, and by its hint if a slot begins in the unit. */
static void units_know(const struct slab *s)
{
	const char *unit = s->base - (uintptr_t)s->base % UNIT_SIZE;

	for (size_t n = 0; n < s->units; n++, unit += UNIT_SIZE) {
		CHECK(slab_record(s->chunk, unit) == s);
		CHECK((s->slots == 1 && n > 0) || map_guess_slab(unit) == s);
	}
}

/* The first two slabs of a class have one unit, and later slabs mostly several. */
TEST(map_units_know_every_slab, 10)
{
	size_t several = 0;

	for (size_t size = 8; size <= SLOT_MAX; size += size / 4 + 8) {
		const struct slab *s = NULL;
		void **last = NULL, **p;

		for (unsigned slabs = 0; slabs < 3; last = p) {
			p = NOT_NULL(ash_alloc(size));
			*p = last;
			if (map_guess_slab(p) == s)
				continue;
			s = map_guess_slab(p);
			CHECK(s == slab_record(map_find(p), p));
			units_know(s);
			slabs++;
		}
		several += s->slots > 1 && s->units > 1;
		for (; (p = last) != NULL; ash_release(p))
			last = *p;
	}
	CHECK(several > 10);
}

/* The hint still leads to the slab that was there before the span. */
TEST(map_span_where_a_slab_was, 10)
{
	void *spans[SPANS];
	size_t was = 0;

	spans_over_slabs(spans);
	for (size_t i = 0; i < SPANS; i++)
		was += map_guess_slab(spans[i]) != NULL && map_guess_slab(spans[i])->base == spans[i];
	CHECK(was > 0);
	release_each(spans, SPANS);
	CHECK_EQ(ash_check(), 0);
}

/* One goes, the others stay; it comes again, and its leaf is there. */
TEST(map_leaves_survive_the_first, 10)
{
	char *again;

	place_two();
	ash_release(first);
	CHECK(ash_trim(0) < SIZE_MAX);
	CHECK(map_find(first) == NULL || map_find(first)->base != first);
	CHECK_EQ(ash_usable_size(second), SPAN);
	again = span_at(first);
	CHECK_EQ(ash_usable_size(again), SPAN);
	CHECK_EQ(ash_check(), 0);
	ash_release(second);
	ash_trim(0);
	CHECK(map_find(second) == NULL);
	CHECK_EQ(ash_usable_size(again), SPAN);
	ash_release(again);
	ash_trim(0);
	CHECK_EQ(ash_check(), 0);
	CHECK(map_find(again) == NULL);
}

static size_t looks;

static void look_around(void *address)
{
	looks += address == first;
	CHECK_EQ(ash_check(), 0);
}

/* While a region is unmapped it is in the map no more, and others do not take it for a live one. */
TEST(map_region_that_goes, 10)
{
	place_two();
	ash_release(first);
	faults.in_munmap = look_around;
	ash_trim(0);
	CHECK_EQ(looks, 1);
	/* munmap fails: it is there again. */
	faults.munmap_error = -FAULT_ENOMEM;
	ash_release(second);
	ash_trim(0);
	CHECK(map_guess(second) != NULL);
	CHECK(ash_alloc(SPAN) == second);
	CHECK_EQ(ash_check(), 0);
}

/* Small blocks of two regions that share all entries of the hint. */
TEST(map_units_of_two_slabs, 30)
{
	enum { BLOCKS = 40000 };
	static unsigned char *p[BLOCKS];
	struct rt_random random;
	size_t shared = 0;

	rt_seed(&random, rt_test_seed());
	p[0] = NOT_NULL(ash_alloc(100));
	/* The next region of slabs is as far away as it must be. */
	faults.place = (char *)map_find(p[0])->base - DISTANCE;
	for (size_t i = 1; i < BLOCKS; i++) {
		p[i] = NOT_NULL(ash_alloc(100));
		memset(p[i], (int)i, 100);
	}
	for (size_t i = 0; i < BLOCKS; i++)
		shared += map_guess_slab(p[i]) != slab_record(map_find(p[i]), p[i]);
	CHECK_EQ(faults.place, 0);
	CHECK(shared > 1000);
	CHECK_EQ(ash_check(), 0);
	for (size_t i = 1; i < BLOCKS; i++) {
		CHECK(p[i][0] == (unsigned char)i && p[i][99] == (unsigned char)i);
		CHECK_EQ(ash_usable_size(p[i]), 112);
		p[i] = ash_resize(p[i], 120);
		CHECK(p[i] != NULL && p[i][99] == (unsigned char)i);
	}
	for (size_t i = BLOCKS; i-- > 0;)
		ash_release(p[i]);
	ash_trim(0);
	CHECK_EQ(ash_check(), 0);
}

/* No memory for a leaf: no region, and all as before; later it works. */
TEST(map_leaf_without_memory, 10)
{
	enum { APART = 10 };
	struct ash_statistics before;
	size_t space = 0;
	char *border, *where;

	/* Just below where a leaf ends; the one above is not there. */
	first = NOT_NULL(ash_alloc(SPAN));
	border = first - DISTANCE - (uintptr_t)first % LEAF;
	second = span_at(border - 100 * CHUNK_SIZE);
	(void)region_trim(&heap_default, true); /* what a failed request would cut off, and try again */
	ash_stats(&before);
	where = border - APART * CHUNK_SIZE;
	faults.mmap_not = sizeof(struct map_leaf);
	faults.mmap_most = SPAN; /* no room to grow: it would be asked for first */
	for (int i = 0; i < 50; i++) {
		faults.place = where;
		faults.again = 1; /* it is tried once more when empty slabs are gathered */
		CHECK(ash_alloc(SPAN) == NULL);
		CHECK_EQ(faults.place, 0);
		CHECK_EQ(ash_check(), 0);
		CHECK_EQ(before.reserved, stats_now().reserved);
		for (size_t c = 0; c < SPAN / CHUNK_SIZE; c++)
			CHECK(map_guess(where + c * CHUNK_SIZE) == NULL);
		/* The metadata of the first attempt serves the others. */
		if (i == 0)
			space = rt_address_space();
	}
	CHECK(rt_under_qemu() || rt_address_space() == space);
	faults.mmap_not = 0;
	where = span_at(where);
	CHECK_EQ(ash_usable_size(where), SPAN);
	CHECK_EQ(ash_usable_size(second), SPAN);
	CHECK_EQ(ash_check(), 0);
	ash_release(first);
	ash_release(second);
	ash_release(where);
}

/* ---- misuse there ---- */

MISUSE(leaves_interior)
{
	place_two();
	bad_in(bad, second, 4096, "interior pointer", SPAN);
}

MISUSE(leaves_released)
{
	place_two();
	span_at(first - 2 * DISTANCE); /* the region stays */
	ash_release(second);
	bad_alone(bad, second, RETURNED);
}

/* The hint's entry, but 64 GiB from it nothing is ours. */
MISUSE(leaves_nowhere)
{
	place_two();
	bad_alone(bad, first - 2 * DISTANCE, FOREIGN);
}

MISUSE_CALL(leaves_slab_nowhere, bad_alone(bad, block_among(100) - DISTANCE, FOREIGN));

MISUSE(leaf)
{
	faults.last_mapped = NULL;
	place_two();
	/* The leaf is the last thing mapped for the second region. */
	bad_alone(bad, faults.last_mapped, RECORDS);
}
