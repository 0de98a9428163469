/* SPDX-License-Identifier: MIT */
/* Heaps inside memory of the caller's: a heap inside another, many heaps, and the cost of filling a heap. */
/* promises: ash_heap_create_in */
#include "support/blocks.h"
#include "support/handler_at_step.h"
#include "support/heap_in.h"
#include "support/shared_heap.h"

TEST(heap_in_refuses_less_than_promised, 10)
{
	static char memory[64 << 10];

	CHECK(ash_heap_create_in(memory, sizeof memory - 1) == NULL);
	CHECK(ash_heap_create_in(memory, sizeof memory) != NULL);
}

/* Inside blocks of other heaps, and in one of its own kind. */
TEST(heap_in_a_block, 10)
{
	ash_heap *outer[3] = {ash_heap_create(NULL), has_shared_heaps() ? shared_heap(8 * MIB) : ash_heap_create(NULL)}, *h;
	static char memory[1 << 20];
	size_t sizes[] = {100000, 3 << 20}, i, k;

	static char early[65536];
	ash_heap *first = ash_heap_create_in(early, sizeof early);

	/* Then the one inside comes before the one outside in the list, too. */
	outer[2] = ash_heap_create_in(memory, sizeof memory);
	ash_heap_destroy(first);
	for (i = 0; i < 4; i++)
		for (k = 0; k < (i == 2 ? 1 : 2); k++) {
			char *block = i < 3 ? ash_heap_alloc(outer[i], sizes[k])
					    : ash_alloc(sizes[k]),
			     *p, *q;

			CHECK(block != NULL);
			h = NOT_NULL(ash_heap_create_in(block, sizes[k]));
			p = ash_heap_alloc(h, 1000);
			p[999] = 3;
			CHECK(p > block && p < block + sizes[k]);
			CHECK_EQ(ash_usable_size(p), 1008);
			CHECK(ash_resize(p, 500) == p);
			q = ash_heap_alloc(h, 10);
			CHECK(q == p + 512);
			p = ash_resize(p, 2000); /* moves within its heap */
			CHECK(p > block && p < block + sizes[k]);
			ash_release(p);
			ash_release_sized(q, 10);
			CHECK_EQ(ash_heap_check(h), 0);
			CHECK_EQ(ash_usable_size(block), i == 2   ? 100000
						    : i == 3 ? ash_good_size(sizes[k])
							     : ash_heap_good_size(outer[i], sizes[k]));
			ash_heap_destroy(h);
			ash_release(block);
		}
	CHECK_EQ(ash_check(), 0);
	for (i = 0; i < 3; i++)
		CHECK_EQ(ash_heap_check(outer[i]), 0);
}

/* As many as there may be; one more is NULL, and goes again after a destroy. */
TEST(heap_in_many, 30)
{
	enum { EACH = 65536 };
	static ash_heap *heaps[ASH_HEAPS_IN_MAX];
	char *memory = rt_map((size_t)EACH * (ASH_HEAPS_IN_MAX + 1));
	size_t i, round;
	void *p;

	for (round = 0; round < 2; round++) {
		for (i = 0; i < ASH_HEAPS_IN_MAX; i++)
			heaps[i] = NOT_NULL(ash_heap_create_in(memory + i * EACH, EACH));
		CHECK(ash_heap_create_in(memory + i * EACH, EACH) == NULL);
		/* The same place again needs no place in the list. */
		heaps[7] = NOT_NULL(ash_heap_create_in(memory + 7 * EACH, EACH));
		for (i = 0; i < ASH_HEAPS_IN_MAX; i++) {
			p = ash_heap_alloc(heaps[i], 64);
			CHECK_EQ(ash_usable_size(p), 64);
			ash_release(p);
			CHECK_EQ(stats_of(heaps[i]).blocks, 0);
		}
		for (i = 0; i < ASH_HEAPS_IN_MAX; i++)
			ash_heap_destroy(heaps[i]);
	}
}

/* To fill and to empty it must not cost as the square of its size: instructions a call, of some. */
static struct {
	ash_heap *heap;
	void *block;
} stepped;

DOES(do_alloc, stepped.block = ash_heap_alloc(stepped.heap, 48));
DOES(do_release, ash_heap_release(stepped.heap, stepped.block));

/* One call in `every` is counted; returns the mean, in hundredths. */
static size_t cost_of_a_call(ash_heap *h, size_t every)
{
	size_t calls = 0, counted = 0, sum = 0;
	void **last = NULL;

	stepped.heap = h;
	do {
		if (calls++ % every != 0) {
			do_alloc();
		} else {
			sum += steps_of(do_alloc);
			counted++;
		}
		if (stepped.block != NULL) {
			*(void **)stepped.block = last;
			last = stepped.block;
		}
	} while (stepped.block != NULL);
	for (; last != NULL; calls++) {
		stepped.block = last;
		last = *last;
		if (calls % every != 0) {
			do_release();
			continue;
		}
		sum += steps_of(do_release);
		counted++;
	}
	return sum * 100 / counted;
}

TEST(heap_in_fills_at_linear_cost, 60)
{
	const size_t large = rt_under_qemu() ? 16 : 32;
	size_t cost[2];
	unsigned k;

	for (k = 0; k < 2; k++) {
		size_t bytes = (k == 0 ? 1 : large) * MIB;
		void *memory = rt_map(bytes);
		ash_heap *h = NOT_NULL(ash_heap_create_in(memory, bytes));

		cost[k] = cost_of_a_call(h, bytes / MIB * 241);
		ash_heap_destroy(h);
		rt_unmap(memory, bytes);
	}
	rt_print("     1 MiB: %.2f instructions a call; %zu MiB: %.2f\n", (double)cost[0] / 100,
		 large, (double)cost[1] / 100);
	CHECK(cost[1] < 2 * cost[0]); /* the square would be `large` */
}
