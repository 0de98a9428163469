/* SPDX-License-Identifier: MIT */
/* Copies and clears by whole lines reach all of the block, and nothing of its neighbours. */
#include "ashlar.h"
#include "rt.h"

enum { AROUND = 64, MOST = 1200 };

/* Blocks of one class, full of a pattern, in the order of their addresses where they can be. */
static unsigned char *around[AROUND];

static void fill_around(size_t size)
{
	for (unsigned i = 0; i < AROUND; i++) {
		around[i] = NOT_NULL(ash_alloc(size));
		memset(around[i], (int)(i + 1), ash_usable_size(around[i]));
	}
}

static void check_around(unsigned but)
{
	for (unsigned i = 0; i < AROUND; i++)
		for (size_t at = 0; i != but && at < ash_usable_size(around[i]); at++)
			CHECK_EQ(around[i][at], i + 1);
}

static void release_around(unsigned but)
{
	for (unsigned i = 0; i < AROUND; i++)
		if (i != but)
			ash_release(around[i]);
}

TEST(lines_clear_all_of_a_block, 60)
{
	for (size_t size = 0; size <= MOST; size += size < 600 ? 1 : 37) {
		const unsigned middle = AROUND / 2;
		unsigned char *p;

		fill_around(size);
		ash_release(around[middle]);
		p = NOT_NULL(ash_zalloc(1, size));
		for (size_t at = 0; at < size; at++)
			CHECK_EQ(p[at], 0);
		check_around(middle);
		ash_release(p);
		release_around(middle);
	}
	CHECK_EQ(ash_check(), 0);
}

static void move(size_t from, size_t to)
{
	unsigned char *p = ash_alloc(from), *q;
	const unsigned middle = AROUND / 2;

	for (size_t at = 0; at < from; at++)
		p[at] = (unsigned char)(at * 7 + 3);
	fill_around(to);
	ash_release(around[middle]);
	q = NOT_NULL(ash_resize(p, to));
	for (size_t at = 0; at < (from < to ? from : to); at++)
		CHECK_EQ(q[at], (unsigned char)(at * 7 + 3));
	check_around(middle);
	ash_release(q);
	release_around(middle);
}

TEST(lines_copy_all_of_a_block, 60)
{
	for (size_t size = 0; size <= MOST; size += size < 600 ? 3 : 41) {
		move(size, size * 2 + 17);
		move(size * 2 + 17, size);
		move(size, 1000);
	}
	CHECK_EQ(ash_check(), 0);
}
