/* SPDX-License-Identifier: MIT */
/* Heaps that the program made: the memory that goes with a heap, and many heaps. */
/* promises: ash_heap_create, ash_heap_destroy, ash_heap_stats, ash_heap_zalloc */
#include "support/blocks.h"
#include "support/misuse.h"
#include "support/pattern.h"

enum { LIVE = 200 };

struct user {
	ash_heap *heap;
	unsigned rounds, key;
	struct {
		char *p;
		size_t size;
	} block[LIVE];
};

/* Random replacement of filled blocks; the last ones are left. */
static void work(struct user *u)
{
	struct rt_random random;
	unsigned rounds = rt_under_qemu() ? u->rounds / 4 : u->rounds, i;

	rt_seed(&random, rt_test_seed() + u->key);
	for (i = 0; i < rounds; i++) {
		size_t at = rt_below(&random, LIVE);
		size_t size = rt_below(&random, i % 100 == 0 ? (size_t)3 << 20 : 3000);

		if (u->block[at].p != NULL) {
			holds(u->block[at].p, u->block[at].size, u->key);
			if (i % 3 == 0)
				ash_release(u->block[at].p);
			else
				ash_heap_release(u->heap, u->block[at].p);
		}
		u->block[at].p = i % 2 == 0 ? ash_heap_alloc(u->heap, size)
					    : ash_heap_zalloc(u->heap, 1, size);
		u->block[at].size = size;
		CHECK(u->block[at].p != NULL);
		if (i % 2 == 1)
			is_zero(u->block[at].p, size);
		fill(u->block[at].p, size, u->key);
	}
}

/* Blocks of one heap never come from another, and destroying gives all back. */
TEST(heap_destroy_gives_back, 20)
{
	static struct user a, b;
	struct bad bad;
	size_t mappings, space;
	unsigned i, taken;

	ash_release(ash_alloc(1));
	ash_release(ash_alloc(100000));
	for (i = 0; i < (rt_under_qemu() ? 8 : 20); i++) {
		/* The first rounds make the records that stay: seats, leaves of the map. */
		if (i == 3) {
			mappings = rt_mappings();
			space = rt_address_space();
		}
		a = (struct user){.heap = ash_heap_create(NULL), .key = 1, .rounds = 500};
		b = (struct user){.heap = ash_heap_create(NULL), .key = 2, .rounds = 500};
		work(&a);
		work(&b);
		ash_heap_destroy(a.heap);
		if (i == 5) {
			for (taken = 0; a.block[taken].p == NULL; taken++)
				;
			bad_alone(&bad, a.block[taken].p, FOREIGN);
			misuse_expect("release", ash_release, &bad);
		}
		work(&b);
		CHECK_EQ(ash_heap_check(b.heap), 0);
		ash_heap_destroy(b.heap);
	}
	/* A leak in each of the 17 rounds would be more; where a new leaf begins is a matter of chance. */
	CHECK(rt_mappings() <= mappings + 4);
	if (!rt_under_qemu()) /* QEMU's own mappings come and go */
		CHECK(rt_address_space() <= space + 65536);
}

/* More heaps than a thread has seats for: then records are found again. */
TEST(heap_many, 60)
{
	enum { HEAPS = 700 };
	static ash_heap *heap[HEAPS];
	static char *block[HEAPS];
	struct ash_statistics st;
	unsigned i, round;

	for (i = 0; i < HEAPS; i++) {
		heap[i] = NOT_NULL(ash_heap_create(NULL));
		block[i] = ash_heap_alloc(heap[i], 1000);
		fill(block[i], 1000, i);
	}
	for (round = 0; round < 3; round++)
		for (i = 0; i < HEAPS; i++) {
			holds(block[i], 1000, i);
			ash_heap_release(heap[i], block[i]);
			block[i] = ash_heap_alloc(heap[i], 1000);
			fill(block[i], 1000, i);
		}
	for (i = 0; i < HEAPS; i++) {
		CHECK_EQ(ash_heap_check(heap[i]), 0);
		ash_heap_stats(heap[i], &st);
		CHECK_EQ(st.blocks, 1);
		CHECK_EQ(st.owners, 1);
		ash_heap_destroy(heap[i]);
	}
}
