/* SPDX-License-Identifier: MIT */
/* promises: what a hardened product says of a block's size is what the program may write. */
#include "ashlar_heap.h"
#include "support/blocks.h"
#include "support/malloc_names.h"
#include "support/resident.h"

static void object_of_another(void *p)
{
	size_t size = malloc_object_size(p);

	CHECK_EQ(size, malloc_usable_size(p));
	memset(p, 1, size); /* else this is behind its end */
	free(p);
}

static void damage(void *p)
{
	char *mine = NOT_NULL(malloc(24));

	mine[24] ^= 1;
	*(char **)p = mine;
	CHECK_EQ(ash_check(), 15);
}

/* Its memory may go while another thread looks, so only the slab's owner reads a block's word. */
TEST(hardened_words_of_others_are_not_read, 10)
{
	char *p;

	free(NOT_NULL(malloc(24)));
	rt_thread_join(rt_thread_start(damage, &p));
	CHECK_EQ(ash_check(), 0);
}

static int count_walked(void *context, void *block, size_t size, UNUSED const struct ash_heap_owner *owner)
{
	CHECK(size == malloc_usable_size(block));
	++*(unsigned *)context;
	return 0;
}

TEST(hardened_object_sizes_of_others, 10)
{
	for (size_t size = 20; size < 8000000; size *= 7)
		rt_thread_join(rt_thread_start(object_of_another, NOT_NULL(malloc(size))));
}

TEST(hardened_walk_sees_what_is_live, 10)
{
	unsigned n = 0;

	for (unsigned i = 0; i < 30; i++) {
		(void)NOT_NULL(malloc(24 + 1000 * i));
		free(NOT_NULL(malloc(24 + 100 * i)));
	}
	CHECK_EQ(ash_heap_walk(NULL, count_walked, &n), 0);
	CHECK_EQ(n, 30);
}

TEST(hardened_object_sizes, 10)
{
	char *p = NOT_NULL(malloc(100)), *none = NOT_NULL(malloc(0)), *made = NOT_NULL(ash_alloc_or(100, ash_alloc));

	CHECK_EQ(malloc_object_size(p), 100);
	CHECK_EQ(malloc_object_size(p + 40), 60);
	CHECK_EQ(malloc_object_size(p + 100), 0);
	CHECK_EQ(malloc_object_size(none), 0);
	CHECK_EQ(malloc_usable_size(none), 0);
	CHECK(malloc_usable_size(made) == 100 && ash_usable_size(NULL) == 0);
	ash_delete(made);
	for (unsigned i = 0; i < 200; i++)
		ash_delete(NOT_NULL(ash_alloc_or(100, ash_alloc)));
	CHECK(ash_expand(p, 0) == 0 && malloc_usable_size(p) == 0);
	free(p);
	CHECK_EQ(malloc_object_size(p), 0); /* in quarantine */
	free(none);
}

TEST(hardened_good_sizes, 10)
{
	static const size_t rows[][2] = {{0, 0}, {1, 8}, {8, 8}, {9, 24}, {104, 104}, {105, 120}, {MIB - 8, MIB - 8}};
	char *p;

	for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
		CHECK_EQ(ash_good_size(rows[i][0]), rows[i][1]);
		p = NOT_NULL(malloc(rows[i][1]));
		CHECK(ash_expand(p, rows[i][1] + 1) == 0 || rows[i][0] == MIB - 8); /* it has all of its slot */
		free(p);
	}
	CHECK(ash_good_size(MIB) > MIB && ash_good_size((size_t)PTRDIFF_MAX + 1) == 0);
	CHECK(malloc(SIZE_MAX) == NULL);
}

static void count_live(void *blocks, const struct ash_thread_stats *figures)
{
	*(size_t *)blocks += figures->blocks;
}

/* What is in quarantine is released, to each of the calls that count. */
TEST(hardened_figures_of_threads, 10)
{
	size_t blocks = 0;

	free(NOT_NULL(malloc(100)));
	ash_stats_threads(count_live, &blocks);
	CHECK_EQ(blocks, 0);
}
