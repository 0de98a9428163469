/* SPDX-License-Identifier: MIT */
/* A system that does not take memory back: it is handed out again, in parts and as a whole. */
#include "abi.h"
#include "program/filter.h"
#include "small/place.h"
#include "support/blocks.h"
#include "support/misuse.h"

static char *filled(size_t size, int byte)
{
	return memset(NOT_NULL(ash_alloc(size)), byte, size);
}

static void check_filled(const char *p, size_t size, char byte)
{
	for (size_t i = 0; i < size; i += 4096)
		CHECK_EQ(p[i], byte);
}

TEST(small_refused_memory_comes_again, 30)
{
	/* Live blocks on both sides, which must not be handed out. */
	char *beside = filled(3 * PLACE_BYTES, 1), *p = filled(3 * PLACE_BYTES, 2), *behind = filled(3 * PLACE_BYTES, 3);
	char *first, *rest;
	struct bad bad;

	if (!filter_calls(ABI_MUNMAP, FILTER_REFUSE, FILTER_ALLOW))
		rt_skip("no filter of system calls here");
	ash_release(p);
	first = filled(PLACE_BYTES, 4);
	CHECK(first == p);
	rest = NOT_NULL(ash_zalloc(1, 2 * PLACE_BYTES));
	CHECK(rest == p + PLACE_BYTES);
	for (size_t i = 0; i < 2 * PLACE_BYTES; i++)
		CHECK_EQ(rest[i], 0);
	ash_release(first);
	ash_release(rest);
	/* The pieces are joined; nothing is known of the second piece but by the first. */
	CHECK(filled(3 * PLACE_BYTES, 5) == p);
	bad_in(&bad, p, PLACE_BYTES + 4096, "interior pointer", 3 * PLACE_BYTES);
	misuse_expect("release", ash_release, &bad);
	check_filled(beside, 3 * PLACE_BYTES, 1);
	check_filled(behind, 3 * PLACE_BYTES, 3);
	ash_release(p);
	ash_release(beside);
	ash_release(behind);
	CHECK_EQ(ash_check(), 0);
	CHECK_EQ(stats_now().blocks, 0);
}
