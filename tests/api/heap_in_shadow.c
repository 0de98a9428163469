/* SPDX-License-Identifier: MIT */
/* Heaps inside memory of the caller's, against a shadow: no unit with two owners, full when full.
 */
/* promises: ash_heap_alloc, ash_heap_release, ash_heap_resize, ash_heap_zalloc */
#include "support/heap_in.h"

/* The shadow: the owner of each granule of the memory. */
enum { AREA = 300000, LIVE = 2000, UNIT = 16 };

struct in {
	ash_heap *heap;
	unsigned char *memory;
	size_t bytes, live, taken;
	uint16_t owner[AREA / UNIT + 2]; /* by distance from the memory's first unit; 0: free */
	struct {
		unsigned char *p;
		size_t size;
		unsigned char key;
	} block[LIVE + 1];
};

/* Marks the block's units, which must be `was`. */
static void claim(struct in *in, size_t i, uint16_t was, uint16_t is)
{
	size_t size = ash_heap_usable_size(in->heap, in->block[i].p);
	size_t first = (uintptr_t)in->block[i].p / UNIT - (uintptr_t)in->memory / UNIT, u;

	CHECK(in->block[i].p >= in->memory && in->block[i].p + size <= in->memory + in->bytes);
	CHECK_EQ((uintptr_t)in->block[i].p % UNIT, 0);
	CHECK_EQ(size, ash_heap_good_size(in->heap, in->block[i].size));
	CHECK(size % UNIT == 0 && size >= in->block[i].size && size <= in->block[i].size + UNIT);
	for (u = first; u < first + size / UNIT; u++) {
		CHECK_EQ(in->owner[u], was);
		in->owner[u] = is;
	}
	in->taken = is != 0 ? in->taken + size : in->taken - size;
}

static void holds(const struct in *in, size_t i, size_t bytes)
{
	for (size_t b = 0; b < bytes; b++)
		CHECK_EQ(in->block[i].p[b], in->block[i].key);
}

static void fill(struct in *in, size_t i, uint64_t key)
{
	in->block[i].key = (unsigned char)key;
	memset(in->block[i].p, (unsigned char)key, in->block[i].size);
}

static void drop(struct in *in, size_t i, bool named)
{
	holds(in, i, in->block[i].size);
	claim(in, i, (uint16_t)i, 0);
	if (named)
		ash_heap_release(in->heap, in->block[i].p);
	else
		ash_release(in->block[i].p);
	in->block[i].p = NULL;
	in->live--;
}

/* NULL is right only where the shadow has no such run. */
static void must_be_full(const struct in *in, size_t size, size_t alignment)
{
	size_t want = (size + UNIT - 1) / UNIT, run = 0, u;
	struct ash_statistics st;
	uintptr_t end, first;

	if (want == 0)
		want = 1;
	ash_heap_stats(in->heap, &st);
	CHECK_EQ(st.block_bytes, in->taken);
	CHECK_EQ(st.dirty, st.reserved - in->taken);
	/* The granules are the last of the memory. */
	end = ((uintptr_t)in->memory + in->bytes) / UNIT;
	first = end - st.reserved / UNIT - (uintptr_t)in->memory / UNIT;
	for (u = first; u < first + st.reserved / UNIT; u++) {
		uintptr_t begin = ((uintptr_t)in->memory / UNIT + u - run) * UNIT;

		run = in->owner[u] == 0 ? run + 1 : 0;
		if (run == 0)
			continue;
		begin = (begin + alignment - 1) & ~(alignment - 1);
		CHECK(begin + want * UNIT > ((uintptr_t)in->memory / UNIT + u + 1) * UNIT);
	}
}

static void random_step(struct in *in, struct rt_random *random, size_t goal)
{
	size_t i = 1 + rt_below(random, LIVE), what = rt_below(random, 100);
	size_t size = rt_below(random, (size_t)1 << rt_below(random, 15));
	size_t alignment = what < 10 ? (size_t)1 << rt_below(random, 13) : 1;

	if (in->block[i].p == NULL) {
		size_t b, old = 0;

		if (in->taken > goal)
			return;
		if (what < 10)
			in->block[i].p = ash_heap_aligned_alloc(in->heap, alignment, size);
		else if (what < 40)
			in->block[i].p = ash_heap_zalloc(in->heap, 1, size);
		else
			in->block[i].p = ash_heap_alloc(in->heap, size);
		if (in->block[i].p == NULL) {
			must_be_full(in, size, alignment);
			return;
		}
		CHECK_EQ((uintptr_t)in->block[i].p % alignment, 0);
		for (b = 0; what >= 10 && what < 40 && b < size; b++)
			old |= in->block[i].p[b];
		CHECK_EQ(old, 0);
		in->block[i].size = size;
		in->live++;
		claim(in, i, 0, (uint16_t)i);
		fill(in, i, rt_next(random));
	} else if (what < 30) {
		size_t before = in->block[i].size, taken = in->taken;
		unsigned char *was = in->block[i].p, *p;

		holds(in, i, before);
		claim(in, i, (uint16_t)i, 0);
		p = what & 1 ? ash_heap_resize(in->heap, was, size) : ash_resize(was, size);
		if (p != NULL) {
			in->block[i].p = p;
			in->block[i].size = size;
			holds(in, i, before < size ? before : size);
		} else {
			CHECK(size > before);
		}
		claim(in, i, 0, (uint16_t)i);
		CHECK(p != NULL || in->taken == taken);
		fill(in, i, rt_next(random));
	} else {
		drop(in, i, what & 1);
	}
}

/* Two heaps that are neighbours, in one array. */
TEST(heap_in_shadow, 120)
{
	static unsigned char array[2 * AREA + 13];
	static struct in in[2];
	size_t i, k, n, operations = rt_under_qemu() ? 60000 : 600000;
	struct rt_random random;

	rt_seed(&random, rt_test_seed());
	memset(array, 0x5a, sizeof array);
	for (k = 0; k < 2; k++) {
		in[k].memory = array + 13 + k * AREA;
		in[k].bytes = AREA;
		in[k].heap = NOT_NULL(ash_heap_create_in(in[k].memory, AREA));
	}
	for (n = 0; n < operations; n++) {
		/* Waves: quite full, then nearly empty. */
		random_step(&in[n & 1], &random, n >> 14 & 1 ? AREA / 10 : AREA);
		if (n % 4096 == 0)
			CHECK_EQ(ash_heap_check(in[n >> 12 & 1].heap), 0);
	}
	for (k = 0; k < 2; k++) {
		struct ash_statistics st;

		for (i = 1; i <= LIVE; i++)
			if (in[k].block[i].p != NULL)
				drop(&in[k], i, true);
		CHECK_EQ(in[k].live, 0);
		ash_heap_stats(in[k].heap, &st);
		nothing_left(in[k].heap, st.reserved);
		CHECK_EQ(largest(in[k].heap, AREA), st.reserved);
		ash_heap_destroy(in[k].heap);
	}
}
