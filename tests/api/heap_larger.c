/* SPDX-License-Identifier: MIT */
/* Where a heap that the program made has no memory left, a block gets a free slot of a larger class. */
/* promises: ash_heap_alloc, ash_heap_aligned_alloc, ash_heap_zalloc */
#include "support/blocks.h"
#include "support/shared_heap.h"

enum { MOST = 4000, LARGE = 5000 };

static unsigned char *blocks[MOST];
static size_t taken;

static void heap_serves(ash_heap *heap)
{
	size_t n = 0;

	for (taken = 0; taken < MOST && (blocks[taken] = ash_heap_alloc(heap, LARGE)) != NULL; taken++)
		memset(blocks[taken], 0xa5, LARGE);
	for (size_t i = 0; i < taken; i += 2)
		ash_heap_release(heap, blocks[i]);
	for (size_t i = 0; i < taken; i += 2, n++) {
		blocks[i] = i % 4 == 0 ? ash_heap_zalloc(heap, 1, 3000) : ash_heap_aligned_alloc(heap, 1024, 1000);
		if (blocks[i] == NULL)
			break;
		CHECK((uintptr_t)blocks[i] % (i % 4 == 0 ? 16 : 1024) == 0);
		if (i % 4 == 0)
			for (size_t k = 0; k < 3000; k++)
				CHECK_EQ(blocks[i][k], 0);
		memset(blocks[i], 0x5a, 1000);
	}
	rt_print("     %zu of %zu slots serve\n", n, (taken + 1) / 2);
	CHECK(taken > 100 && n >= taken / 2 / 10 * 9);
	CHECK_EQ(ash_heap_check(heap), 0);
	for (size_t i = 0; i < taken; i++)
		if (i % 2 != 0 || i < 2 * n)
			ash_heap_release(heap, blocks[i]);
	CHECK_EQ(stats_of(heap).blocks, 0);
	CHECK_EQ(ash_heap_check(heap), 0);
	ash_heap_destroy(heap);
}

TEST(larger_slots_of_a_heap_serve, 20)
{
	const struct ash_heap_options options = {.cap = 8 * MIB};

	heap_serves(NOT_NULL(ash_heap_create(&options)));
	heap_serves(shared_heap(8 * MIB));
}
