/* SPDX-License-Identifier: MIT */
/* Heaps inside memory of the caller's: looking at them, one inside another, many. */
/* promises: ash_heap_walk, ash_heap_good_size, ash_heap_root, ash_heap_set_root, ash_heap_stats */
#include "support/blocks.h"
#include "support/heap_in.h"

struct seen {
	size_t blocks, bytes, in_flight, stop_at;
	ash_heap *release_in;
};

static int see(void *context, void *block, size_t size, const struct ash_heap_owner *owner)
{
	struct seen *s = context;

	s->blocks++;
	s->bytes += size;
	s->in_flight += owner->id == 0;
	if (s->release_in != NULL)
		ash_heap_release(s->release_in, block);
	return s->blocks == s->stop_at ? 17 : 0;
}

TEST(heap_in_looks, 10)
{
	static char memory[1 << 17];
	ash_heap *h = ash_heap_create_in(memory, sizeof memory);
	struct ash_statistics st;
	struct seen s = {0};
	size_t i, bytes = 0;

	CHECK(ash_heap_root(h) == NULL);
	ash_heap_set_root(h, memory);
	CHECK(ash_heap_root(h) == memory);
	for (i = 0; i < 100; i++)
		bytes += ash_usable_size(ash_heap_alloc(h, i * 23));
	CHECK_EQ(ash_heap_walk(h, see, &s), 0);
	CHECK_EQ(s.blocks, 100);
	CHECK_EQ(s.bytes, bytes);
	CHECK_EQ(s.in_flight, 0);
	ash_heap_stats(h, &st);
	CHECK_EQ(st.blocks, 100);
	CHECK_EQ(st.block_bytes, bytes);
	CHECK_EQ(st.slabs + st.spans + st.pending + st.owners, 0);
	s = (struct seen){.stop_at = 5};
	CHECK_EQ(ash_heap_walk(h, see, &s), 17);
	CHECK_EQ(s.blocks, 5);
	CHECK_EQ(ash_heap_trim(h, 0), 0);
	CHECK_EQ(ash_heap_recover(h), 0);
	CHECK_EQ(ash_heap_release_owner(h, 1), 0);
	CHECK_EQ(ash_heap_good_size(h, 0), 16);
	CHECK_EQ(ash_heap_good_size(h, 100), 112);
	CHECK_EQ(ash_heap_good_size(h, SIZE_MAX), 0);
	ash_heap_thread_detach(h);
	s = (struct seen){.release_in = h};
	CHECK_EQ(ash_heap_walk(h, see, &s), 0);
	CHECK_EQ(s.blocks, 100);
	nothing_left(h, st.reserved);
}

TEST(heap_in_refuses_less_than_promised, 10)
{
	static char memory[64 << 10];

	CHECK(ash_heap_create_in(memory, sizeof memory - 1) == NULL);
	CHECK(ash_heap_create_in(memory, sizeof memory) != NULL);
}

/* Inside blocks of other heaps, and in one of its own kind. */
TEST(heap_in_a_block, 10)
{
	ash_heap *outer[3] = {ash_heap_create(NULL), ash_heap_create_shared(8 * MIB, NULL)}, *h;
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
			CHECK_EQ(ash_usable_size(block), i == 2 ? 100000 : ash_good_size(sizes[k]));
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
