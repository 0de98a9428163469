/* SPDX-License-Identifier: MIT */
/* Heaps inside memory of the caller's: their waste, that they stay inside, looks at them. */
/* promises: ash_heap_create_in, ash_heap_resize, ash_heap_release_sized, ash_heap_usable_size */
/* promises: ash_heap_walk, ash_heap_good_size, ash_heap_root, ash_heap_set_root, ash_heap_stats */
#include "support/heap_in.h"

/* Fills it with blocks of one size; their number.  They are chained, and released again. */
static size_t fill_and_empty(ash_heap *h, size_t size)
{
	void **last = NULL, **p;
	size_t blocks = 0;

	while ((p = ash_heap_alloc(h, size)) != NULL) {
		*p = last;
		last = p;
		blocks++;
	}
	for (; last != NULL; last = p) {
		p = *last;
		ash_heap_release(h, last);
	}
	return blocks;
}

/* The sentence in ashlar_heap.h. */
static void waste(size_t bytes)
{
	void *memory = rt_map(bytes);
	ash_heap *h = NOT_NULL(ash_heap_create_in(memory, bytes));
	size_t promised = bytes / 50 * 49 - 256, small, middle, whole;
	struct ash_statistics st;

	ash_heap_stats(h, &st);
	CHECK(st.reserved >= promised && st.reserved <= bytes);
	whole = largest(h, bytes);
	CHECK_EQ(whole, st.reserved);
	small = fill_and_empty(h, 16) * 16;
	CHECK_EQ(small, st.reserved);
	nothing_left(h, st.reserved);
	middle = fill_and_empty(h, 100) * 112;
	CHECK(middle + 112 > st.reserved);
	nothing_left(h, st.reserved);
	CHECK_EQ(largest(h, bytes), whole);
	rt_print("     %8zu KiB: %.2f %% in blocks of 16, %.2f %% of 100 asked for, %.2f %% in "
		 "one\n",
		 bytes / KIB, (double)small * 100 / (double)bytes,
		 (double)(middle / 112 * 100) * 100 / (double)bytes,
		 (double)whole * 100 / (double)bytes);
	ash_heap_destroy(h);
	rt_unmap(memory, bytes);
}

TEST(heap_in_waste, 60)
{
	waste(64 * KIB);
	waste(MIB);
	waste((rt_under_qemu() ? 16 : 64) * MIB);
}

/* Any start, any length; not a byte outside is touched. */
TEST(heap_in_any_place, 60)
{
	enum { ROOM = 66000, GUARD = 0xa7 };
	static unsigned char memory[ROOM + 200];
	size_t at, i;

	CHECK(ash_heap_create_in(NULL, MIB) == NULL);
	CHECK(ash_heap_create_in(memory, SIZE_MAX) == NULL);
	CHECK(ash_heap_create_in(memory, 0) == NULL);
	for (at = 0; at < 100; at++) {
		size_t bytes = 64 * KIB + at * 7 % 300, size;
		ash_heap *h;
		char *p;

		memset(memory, GUARD, sizeof memory);
		h = NOT_NULL(ash_heap_create_in(memory + at, bytes));
		CHECK_EQ(ash_heap_check(h), 0);
		size = largest(h, bytes);
		CHECK(size >= bytes / 50 * 49 - 256);
		p = ash_heap_alloc(h, size);
		CHECK_EQ((uintptr_t)p % 16, 0);
		memset(p, 1, size);
		CHECK_EQ(ash_heap_check(h), 0); /* the records are elsewhere */
		CHECK_EQ(ash_heap_usable_size(h, p), size);
		CHECK(ash_heap_alloc(h, 0) == NULL);
		for (i = 0; i < at; i++)
			CHECK_EQ(memory[i], GUARD);
		for (i = at + bytes; i < sizeof memory; i++)
			CHECK_EQ(memory[i], GUARD);
		ash_heap_release(h, p);
		(void)fill_and_empty(h, 16);
		nothing_left(h, size);
		ash_heap_destroy(h);
	}
}

/* As first fit and not as a walk through all the memory. */
TEST(heap_in_stays_dense, 30)
{
	enum { BLOCKS = 500 };
	static char *block[BLOCKS];
	char *memory = rt_map(16 * MIB), *highest = memory;
	ash_heap *h = ash_heap_create_in(memory, 16 * MIB);
	struct rt_random random;
	size_t n, i;

	rt_seed(&random, rt_test_seed());
	for (n = 0; n < 300000; n++) {
		i = rt_below(&random, BLOCKS);
		if (block[i] != NULL)
			ash_heap_release(h, block[i]);
		block[i] = NOT_NULL(ash_heap_alloc(h, rt_below(&random, 300)));
		if (block[i] > highest)
			highest = block[i];
	}
	CHECK((size_t)(highest - memory) < MIB);
	CHECK_EQ(ash_heap_check(h), 0);
}

TEST(heap_in_resize, 10)
{
	static char memory[128 << 10];
	ash_heap *h = ash_heap_create_in(memory, sizeof memory);
	char *a = ash_heap_alloc(h, 16), *b, *moved;
	struct ash_statistics st;

	ash_heap_stats(h, &st);
	/* Grows where it stands, up to the last byte. */
	a[15] = 7;
	for (size_t size = 17; size <= st.reserved; size += size < 3000 ? 1 : 997)
		CHECK(ash_heap_resize(h, a, size) == a);
	CHECK(ash_heap_resize(h, a, st.reserved) == a && a[15] == 7);
	CHECK(ash_heap_resize(h, a, st.reserved + 1) == NULL);
	CHECK(ash_heap_resize(h, a, SIZE_MAX) == NULL && ash_resize(a, SIZE_MAX) == NULL);
	CHECK_EQ(ash_heap_usable_size(h, a), st.reserved);
	/* Shrinks where it stands; the memory behind it is free at once. */
	CHECK(ash_resize(a, 5000) == a);
	CHECK_EQ(ash_usable_size(a), 5008);
	b = ash_heap_alloc(h, 100);
	CHECK(b == a + 5008);
	/* With a neighbour it moves, with its contents. */
	memset(a, 9, 5000);
	moved = ash_heap_resize(h, a, 6000);
	CHECK(moved != NULL && moved != a && moved[0] == 9 && moved[4999] == 9);
	/* No room: it stays as it is. */
	CHECK(ash_heap_resize(h, moved, 128000) == NULL);
	CHECK(moved[4999] == 9 && ash_usable_size(moved) == 6000);
	CHECK(ash_heap_resize(h, moved, 0) == moved && ash_usable_size(moved) == 16);
	CHECK(ash_heap_resize(h, NULL, 10) != NULL);
	ash_release_sized(b, 100);
	ash_heap_release_sized(h, moved, 0);
	CHECK_EQ(ash_heap_check(h), 0);
}

TEST(heap_in_aligned, 10)
{
	static char memory[(1 << 20) + 5];
	ash_heap *h = ash_heap_create_in(memory + 5, (1 << 20) - 3);
	size_t alignment, made = 0;

	for (alignment = 1; alignment != 0; alignment *= 2) {
		char *p = ash_heap_aligned_alloc(h, alignment, 40), *q;

		if (p == NULL) {
			CHECK(alignment > 256 * KIB); /* fits wherever the array lies */
			continue;
		}
		CHECK_EQ((uintptr_t)p & (alignment - 1), 0);
		q = ash_heap_aligned_alloc(h, alignment, 0);
		CHECK_EQ((uintptr_t)q & (alignment - 1), 0);
		made++;
		ash_release(p);
		ash_release(q);
	}
	CHECK(made >= 19);
	CHECK(ash_heap_aligned_alloc(h, 0, 40) == NULL);
	CHECK(ash_heap_aligned_alloc(h, 24, 40) == NULL);
	CHECK(ash_heap_zalloc(h, SIZE_MAX / 2, 3) == NULL);
	CHECK_EQ(ash_heap_check(h), 0);
}

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
	CHECK_EQ(ash_heap_usable_size(h, NULL), 0);
	ash_heap_release(h, NULL);
	ash_heap_release_sized(h, NULL, 5);
	CHECK_EQ(ash_heap_good_size(h, 0), 16);
	CHECK_EQ(ash_heap_good_size(h, 17), 32);
	CHECK_EQ(ash_heap_good_size(h, 100), 112);
	CHECK_EQ(ash_heap_good_size(h, SIZE_MAX), 0);
	ash_heap_thread_detach(h);
	s = (struct seen){.release_in = h};
	CHECK_EQ(ash_heap_walk(h, see, &s), 0);
	CHECK_EQ(s.blocks, 100);
	nothing_left(h, st.reserved);
	ash_heap_destroy(NULL);
	ash_heap_destroy(h);
	h = ash_heap_create_in(memory, sizeof memory);
	CHECK(h != NULL && ash_heap_root(h) == NULL);
}
