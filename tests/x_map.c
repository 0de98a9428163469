/* SPDX-License-Identifier: MIT */
/* clang-format off */
/* LDFLAGS: -Wl,--wrap=arch_mmap,--wrap=arch_munmap,--wrap=arch_madvise,--wrap=arch_mremap,--wrap=arch_mincore */
/* clang-format on */
/*
 * The map's second way: chunks that lie a multiple of 64 GiB apart share an
 * entry of the table, so the later one must be found through the overflow.
 * The system is made to place the regions just so.
 */
#include "ashlar.h"
#include "misuse.h"
#include "region.h"
#include "slab.h"
#include "x_faults.h"

#define MIB      ((size_t)1 << 20)
#define DISTANCE ((size_t)MAP_TABLE << CHUNK_SHIFT)

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
	first = ash_alloc(SPAN);
	CHECK(first != NULL);
	second = span_at(first - DISTANCE);
	CHECK_EQ(ash_check(), 0);
}

TEST(map_overflow_finds, 10)
{
	char *third;

	place_two();
	third = span_at(first - 3 * DISTANCE);
	CHECK(map_guess(second) == map_guess(first));
	CHECK(map_find(first) != map_find(second) && map_find(second) != map_find(third));
	CHECK(map_find(second)->base == second);
	CHECK(ash_usable_size(first) == SPAN && ash_usable_size(second) == SPAN);
	/* A pointer of the right entry, in no region. */
	CHECK(map_find(first - 2 * DISTANCE) == NULL);
	CHECK(map_find(first + DISTANCE) == NULL);
	ash_release(second);
	CHECK_EQ(ash_check(), 0);
	CHECK_EQ(ash_usable_size(first), SPAN);
	CHECK_EQ(ash_usable_size(third), SPAN);
	ash_release(third);
	ash_release(first);
	CHECK_EQ(ash_check(), 0);
}

/* The table's own goes first, and comes again as a later one. */
TEST(map_overflow_survives_the_first, 10)
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

/* Small blocks of two regions that share all entries. */
TEST(map_overflow_slabs, 30)
{
	enum { BLOCKS = 40000 };
	static unsigned char *p[BLOCKS];
	struct rt_random random;
	size_t shared = 0;

	rt_seed(&random, rt_test_seed());
	p[0] = ash_alloc(100);
	CHECK(p[0] != NULL);
	/* The next region of slabs is as far away as it must be. */
	faults.place = (char *)map_find(p[0])->base - DISTANCE;
	for (size_t i = 1; i < BLOCKS; i++) {
		p[i] = ash_alloc(100);
		CHECK(p[i] != NULL);
		memset(p[i], (int)i, 100);
		shared += map_guess(p[i])->base != (char *)((uintptr_t)p[i] & ~(CHUNK_SIZE - 1));
	}
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

/* No memory for the overflow: no region, and all as before; later it works. */
TEST(map_overflow_without_memory, 10)
{
	enum { LEAF = 64 << 10, APART = 10 };
	struct ash_stats before, after;
	size_t space = 0;
	char *where;

	first = ash_alloc(SPAN);
	ash_stats(&before);
	/* Its first chunks find their entries free, the others taken. */
	where = first - DISTANCE - APART * CHUNK_SIZE;
	faults.mmap_not = LEAF;
	faults.mmap_most = SPAN; /* no room to grow: it would be asked for first */
	for (int i = 0; i < 50; i++) {
		faults.place = where;
		CHECK(ash_alloc(SPAN) == NULL);
		CHECK_EQ(faults.place, 0);
		CHECK_EQ(ash_check(), 0);
		ash_stats(&after);
		CHECK_EQ(before.reserved, after.reserved);
		for (size_t c = 0; c < SPAN / CHUNK_SIZE; c++) {
			CHECK(map_find(where + c * CHUNK_SIZE) == NULL);
			CHECK(c >= APART || map_guess(where + c * CHUNK_SIZE) == NULL);
		}
		/* The metadata of the first attempt serves the others. */
		if (i == 0)
			space = rt_address_space();
	}
	CHECK(rt_under_qemu() || rt_address_space() == space);
	faults.mmap_not = 0;
	second = span_at(where);
	CHECK_EQ(ash_usable_size(second), SPAN);
	CHECK_EQ(ash_check(), 0);
	ash_release(first);
	ash_release(second);
}

/* ---- misuse there ---- */

MISUSE(overflow_interior)
{
	place_two();
	bad_says(bad, second + 4096, "interior pointer", SPAN);
}

MISUSE(overflow_released)
{
	place_two();
	span_at(first - 2 * DISTANCE); /* the region stays */
	ash_release(second);
	bad_says(bad, second, RETURNED, 0);
}

/* The entry's pointer, but 64 GiB from it nothing is ours. */
MISUSE(overflow_nowhere)
{
	place_two();
	bad_says(bad, first - 2 * DISTANCE, FOREIGN, 0);
}

MISUSE(overflow_slab_nowhere)
{
	bad_says(bad, block_among(100) - DISTANCE, FOREIGN, 0);
}

MISUSE(overflow_leaf)
{
	faults.last_mapped = NULL;
	place_two();
	/* The leaf is the last thing mapped for the second region. */
	bad_says(bad, faults.last_mapped, RECORDS, 0);
}

int main(int argc, char **argv, __attribute__((unused)) char **envp)
{
	return rt_run_tests(argc, argv);
}
