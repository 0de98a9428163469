/* SPDX-License-Identifier: MIT */
/* The ancestor's names. */
/* promises: init_global_allocator, alloc, resize, release */
#include <ashlar_heap.h>
#include <ashlar_names.h>

#include "support/blocks.h"
#include "support/pattern.h"

enum { CHUNKS = 8, BLOCK = 100, CHUNK = 2 << 20 };

TEST(names_without_init, 10)
{
	struct ash_statistics before;
	char *p;

	ash_stats(&before);
	p = NOT_NULL(alloc(BLOCK));
	fill(p, BLOCK, 1);
	p = NOT_NULL(resize(p, 3 * BLOCK));
	holds(p, BLOCK, 1);
	CHECK_EQ(stats_now().blocks, before.blocks + 1); /* the default heap's */
	release(p);
	release(NULL);
	p = NOT_NULL(resize(NULL, BLOCK));
	release(p);
	CHECK_EQ(stats_now().blocks, before.blocks);
}

/* A child writes into its parent's block, releases another, and leaves one of its own. */
TEST(names_shared_with_children, 20)
{
	/* volatile: the compiler does not know that a child's stores are seen by others. */
	char *volatile *table, *given;

	CHECK(init_global_allocator(CHUNKS));
	table = NOT_NULL(alloc(2 * sizeof *table));
	given = NOT_NULL(alloc(BLOCK));
	fill(given, BLOCK, 2);
	table[0] = given;
	IN_CHILD {
		char *own = NOT_NULL(resize(NULL, BLOCK));

		holds(table[0], BLOCK, 2);
		release(table[0]);
		fill(own, BLOCK, 3);
		table[0] = NULL;
		table[1] = NOT_NULL(resize(own, 50 * BLOCK));
	}
	CHECK(table[0] == NULL);
	holds(table[1], BLOCK, 3);
	release(table[1]);
	release((void *)table);
	CHECK_EQ(stats_now().blocks, 0); /* nothing of it went to the default heap */
	CHECK_EQ(ash_check(), 0);
}

TEST(names_before_and_after_init, 10)
{
	char *before = NOT_NULL(alloc(BLOCK)), *after, *large;

	fill(before, BLOCK, 4);
	CHECK(init_global_allocator(CHUNKS));
	CHECK(init_global_allocator(1)); /* changes nothing */
	after = alloc(BLOCK);
	large = alloc(3 * (size_t)CHUNK); /* more than one chunk: the first call's heap */
	CHECK(after != NULL && large != NULL);
	before = NOT_NULL(resize(before, 2 * BLOCK));
	holds(before, BLOCK, 4);
	release(after);
	release(before);
	release(large);
}

TEST(names_full, 10)
{
	static void *p[CHUNKS + 1];
	unsigned n = 0, i;

	CHECK(!init_global_allocator(0));
	CHECK(!init_global_allocator(SIZE_MAX / 2));
	CHECK(init_global_allocator(CHUNKS));
	while (n <= CHUNKS && (p[n] = alloc(CHUNK)) != NULL)
		n++;
	CHECK_EQ(n, CHUNKS);
	release(p[0]);
	CHECK((p[0] = alloc(CHUNK)) != NULL);
	for (i = 0; i < n; i++)
		release(p[i]);
}
