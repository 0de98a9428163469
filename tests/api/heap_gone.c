/* SPDX-License-Identifier: MIT */
/* Heaps that lost their memory first: with the heap that the memory was of, or with the mapping. */
/* promises: ash_heap_create_in, ash_heap_destroy */
#include "support/pattern.h"
#include "support/blocks.h"

#include "support/heap_in.h"
#include "support/shared_heap.h"

enum { INNER = 100000, TIMES = ASH_HEAPS_IN_MAX + 200 };

static unsigned taken; /* places, by the test itself */

/* All other places are free: this number of heaps can be there. */
static void places_are_free(void)
{
	static ash_heap *heap[ASH_HEAPS_IN_MAX];
	char *memory = rt_map((size_t)ASH_HEAPS_IN_MAX * 65536);
	unsigned i;

	for (i = taken; i < ASH_HEAPS_IN_MAX; i++)
		heap[i] = NOT_NULL(ash_heap_create_in(memory + (size_t)i * 65536, 65536));
	for (i = taken; i < ASH_HEAPS_IN_MAX; i++)
		ash_heap_destroy(heap[i]);
	rt_unmap(memory, (size_t)ASH_HEAPS_IN_MAX * 65536);
}

/* S10: destroying the outer heap ends the inner ones. */
static void outer_destroyed(ash_heap *(*make)(void))
{
	unsigned i;

	for (i = 0; i < TIMES; i++) {
		ash_heap *outer = NOT_NULL(make()), *inner;

		inner = ash_heap_create_in(ash_heap_alloc(outer, INNER + (i % 3) * ((size_t)1 << 20)),
					   INNER);
		CHECK(inner != NULL);
		CHECK(ash_heap_alloc(inner, 100) != NULL);
		ash_heap_destroy(outer);
	}
	places_are_free();
}

static ash_heap *make_private(void)
{
	return ash_heap_create(NULL);
}

static ash_heap *make_shared(void)
{
	return shared_heap((size_t)8 << 20);
}

static ash_heap *make_in(void)
{
	static char memory[6 << 20];

	return ash_heap_create_in(memory, sizeof memory);
}

TEST(heap_gone_outer_destroyed, 60)
{
	outer_destroyed(make_private);
	outer_destroyed(make_in);
	outer_destroyed(make_shared);
}

/* Memory that was unmapped with its heap in it, and mapped again as a part of more. */
TEST(heap_gone_unmapped, 10)
{
	char *memory = rt_map(4 * MIB);
	unsigned i;

	for (i = 0; i < TIMES; i++) {
		ash_heap *inner = ash_heap_create_in(memory + MIB, MIB), *outer;

		CHECK(inner != NULL && ash_heap_alloc(inner, 100) != NULL);
		/* While it exists, no other heap may overlap it. */
		CHECK(ash_heap_create_in(memory, 4 * MIB) == NULL);
		memset(memory + MIB, 0, MIB); /* as if it were fresh */
		outer = ash_heap_create_in(memory, 4 * MIB);
		CHECK(outer != NULL && ash_heap_alloc(outer, 2 * MIB) != NULL);
		ash_heap_destroy(outer);
	}
	places_are_free();
}

/* The same by a release, in each of the ways to release. */
static ash_heap *outer; /* NULL: the default heap */
static enum { BY_RELEASE, BY_HEAP, BY_SIZED, BY_RESIZE, BY_THREAD, WAYS } way;

static void *outer_alloc(size_t size)
{
	return outer == NULL ? ash_alloc(size) : ash_heap_alloc(outer, size);
}

static void outer_release(void *p, size_t size)
{
	void *moved;

	switch (way) {
	case BY_HEAP:
		if (outer != NULL) {
			ash_heap_release(outer, p);
			return;
		}
		break;
	case BY_SIZED:
		if (outer != NULL)
			ash_heap_release_sized(outer, p, size);
		else
			ash_release_sized(p, size);
		return;
	case BY_RESIZE:
		moved = NOT_NULL(ash_resize(p, size * 5));
		ash_release(moved);
		return;
	case BY_THREAD:
		rt_in_thread(ash_release, p);
		return;
	default:
		break;
	}
	ash_release(p);
}

/* The memory of the block is other blocks' now, and they are innocent. */
static void outer_released(size_t size)
{
	enum { INNOCENT = 300 };
	static char *innocent[INNOCENT];
	unsigned round, i;
	char *p = NULL;

	for (round = 0; round < (rt_under_qemu() ? 3u : 16u); round++) {
		ash_heap *inner;

		p = NOT_NULL(outer_alloc(size));
		memset(p, 0, size);
		inner = NOT_NULL(ash_heap_create_in(p, size));
		CHECK(ash_heap_alloc(inner, 100) != NULL);
		outer_release(p, size);
		for (i = 0; i < INNOCENT; i++) {
			size_t bytes = round % 4 == 0 && i % 100 == 99 ? size : round % 2 ? 3000 : 300;

			innocent[i] = NOT_NULL(outer_alloc(bytes));
			/* Of some nothing is written, so that old records still stand there. */
			if (i % 2 == 0)
				memset(innocent[i], 0xee, bytes);
		}
		release_each(innocent, INNOCENT);
	}
	places_are_free();
}

/* places: that the heap itself takes. */
static void released_in_all_ways(ash_heap *of, unsigned places)
{
	static const size_t sizes[] = {65536, 70000, 131072, 500000, 1 << 20, 3 << 20};
	unsigned i;

	outer = of;
	taken = places;
	for (way = BY_RELEASE; way < WAYS; way++)
		for (i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
			outer_released(sizes[i]);
	ash_heap_destroy(outer);
}

TEST_CALL(heap_gone_outer_released, 60, released_in_all_ways(NULL, 0));
TEST_CALL(heap_gone_outer_released_private, 60, released_in_all_ways(NOT_NULL(ash_heap_create(NULL)), 0));
TEST_CALL(heap_gone_outer_released_shared, 60, released_in_all_ways(shared_heap(64 * MIB), 0));
TEST_CALL(heap_gone_outer_released_in, 60,
	  released_in_all_ways(NOT_NULL(ash_heap_create_in(rt_map(64 * MIB), 64 * MIB)), 1));

/* Two heaps never have the same memory; but one may be in a block of another. */
TEST(heap_gone_overlap, 20)
{
	enum { SIZE = 1 << 20 };
	static char memory[4 * SIZE];
	ash_heap *h = ash_heap_create_in(memory + SIZE, SIZE), *in, *again, *before, *behind;
	char *p = ash_heap_alloc(h, 3 * INNER), *small = ash_heap_alloc(h, 100);

	CHECK(p != NULL && small != NULL);
	fill(p, 3 * INNER, 7);
	CHECK(ash_heap_create_in(memory, SIZE + 1) == NULL);
	CHECK(ash_heap_create_in(memory, 2 * SIZE) == NULL);
	CHECK(ash_heap_create_in(memory, 4 * SIZE) == NULL);
	CHECK(ash_heap_create_in(memory + 2 * SIZE - 1, SIZE) == NULL);
	CHECK(ash_heap_create_in(memory + SIZE + 64, SIZE - 64) == NULL);
	CHECK(ash_heap_create_in(p - 16, INNER) == NULL);
	CHECK(ash_heap_create_in(p + INNER, 2 * INNER + 4096) == NULL);
	CHECK(ash_heap_create_in(memory + 2 * SIZE - INNER, INNER) == NULL); /* free */
	holds(p, 3 * INNER, 7);
	CHECK_EQ(ash_heap_check(h), 0);
	in = ash_heap_create_in(p + 16, INNER);
	CHECK(in != NULL && ash_heap_alloc(in, 10) != NULL);
	CHECK(ash_heap_create_in(p, INNER) == NULL);
	CHECK(ash_heap_create_in(p + INNER + 16, INNER) != NULL);
	/* Beside each other, and again at the same place. */
	before = NOT_NULL(ash_heap_create_in(memory, SIZE));
	behind = NOT_NULL(ash_heap_create_in(memory + 2 * SIZE, SIZE));
	again = ash_heap_create_in(memory + SIZE, SIZE);
	CHECK_EQ(again, h);
	CHECK(ash_heap_alloc(again, SIZE / 2) != NULL);
	ash_heap_destroy(again);
	ash_heap_destroy(before);
	ash_heap_destroy(behind);
	places_are_free();
}

/* The block that it lies in is asked for the size that it has: nothing goes. */
TEST(heap_in_stays_in_a_block_that_stays, 10)
{
	char *p = NOT_NULL(ash_alloc(INNER));
	ash_heap *inner = NOT_NULL(ash_heap_create_in(p, INNER));

	CHECK_EQ(ash_expand(p, ash_usable_size(p)), ash_usable_size(p));
	p = NOT_NULL(ash_heap_alloc(inner, 100));
	CHECK(ash_heap_of(p) == inner && ash_heap_check(inner) == 0);
	ash_heap_destroy(inner);
}
