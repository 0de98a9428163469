/* SPDX-License-Identifier: MIT */
/* Resize: between all class borders, for spans every way there is, every byte compared. */
/* promises: ash_resize */
#include "support/blocks.h"

enum { SIZES_MAX = 512 };
static size_t sizes[SIZES_MAX];
static unsigned size_count;

/* The borders, found by asking: where ash_good_size changes.  Of many not all. */
static void find_sizes(unsigned every)
{
	unsigned class = 0, classes = 0;

	for (size_t size = 0; size <= MIB; classes++)
		size = ash_good_size(size) + 1;
	every += classes / 128 * every;
	for (size_t size = 0; size <= MIB; class ++) {
		size_t good = ash_good_size(size);

		CHECK(good >= size && size_count + 3 < SIZES_MAX);
		if (class % every == 0 || good == MIB) {
			sizes[size_count++] = good - 1;
			sizes[size_count++] = good;
			sizes[size_count++] = good + 1;
		}
		size = good + 1;
	}
}

static uint64_t pattern(size_t i, uint64_t key)
{
	return (i + key) * 0x9e3779b97f4a7c15u;
}

/* By words, then by bytes: every byte, at a bearable price. */
static void fill(unsigned char *p, size_t size, uint64_t key)
{
	size_t i = 0;

	for (; i + 8 <= size; i += 8)
		*(uint64_t *)(void *)(p + i) = pattern(i, key);
	for (; i < size; i++)
		p[i] = (unsigned char)pattern(i, key);
}

static void holds(const unsigned char *p, size_t size, uint64_t key)
{
	size_t i = 0;

	for (; i + 8 <= size; i += 8)
		if (*(const uint64_t *)(const void *)(p + i) != pattern(i, key))
			CHECK_EQ(i, SIZE_MAX);
	/* Of the last word only a part may be left. */
	for (; i < size; i++) {
		unsigned char word[8];
		uint64_t whole = pattern(i & ~(size_t)7, key);

		memcpy(word, &whole, 8);
		CHECK(p[i] == word[i & 7] || p[i] == (unsigned char)pattern(i, key));
	}
}

static void resize_pair(size_t from, size_t to, uint64_t key)
{
	unsigned char *p = NOT_NULL(ash_alloc(from)), *q;

	fill(p, from, key);
	q = NOT_NULL(ash_resize(p, to));
	CHECK(ash_usable_size(q) >= to);
	CHECK_EQ((uintptr_t)q % (to >= 16 ? 16 : 8), 0);
	holds(q, from < to ? from : to, key);
	fill(q, to, key + 1);
	ash_release(q);
}

static void all_pairs(void)
{
	for (unsigned i = 0; i < size_count; i++)
		for (unsigned j = 0; j < size_count; j++)
			resize_pair(sizes[i], sizes[j], i * size_count + j);
	CHECK_EQ(ash_check(), 0);
	CHECK_EQ(stats_now().blocks, 0);
}

TEST(resize_small_class_borders, 60)
{
	find_sizes(rt_under_qemu() ? 2 : 1);
	/* Here only those up to 32 KiB, but all of them with all. */
	while (size_count > 0 && sizes[size_count - 1] > 32 * KIB + 1)
		size_count--;
	CHECK(size_count > 10);
	all_pairs();
}

TEST(resize_class_borders, 60)
{
	static const size_t spans[] = {2 * MIB - 1, 2 * MIB, 2 * MIB + 1, 5 * MIB + 12345};

	find_sizes(rt_under_qemu() ? 19 : 4);
	for (unsigned i = 0; i < sizeof(spans) / sizeof(spans[0]); i++)
		sizes[size_count++] = spans[i];
	all_pairs();
}

/* The list of a block that grows by a byte, over three borders of classes. */
TEST(resize_byte_by_byte, 60)
{
	size_t most = rt_under_qemu() ? 600 : 3000;
	unsigned char *p = ash_resize(NULL, 0);

	for (size_t size = 1; size <= most; size++) {
		p = NOT_NULL(ash_resize(p, size));
		p[size - 1] = (unsigned char)(size * 7);
		for (size_t i = 0; i < size; i++)
			CHECK_EQ(p[i], (unsigned char)((i + 1) * 7));
	}
	for (size_t size = most; size-- > 0;) {
		p = NOT_NULL(ash_resize(p, size));
		for (size_t i = 0; i < size; i++)
			CHECK_EQ(p[i], (unsigned char)((i + 1) * 7));
	}
	ash_release(p); /* of size 0: a block still */
}

static size_t same(void *p, void *q)
{
	return p == q;
}

TEST(resize_span_in_place, 60)
{
	unsigned char *p = ash_alloc(40 * MIB), *q;

	/* Room behind it, by shrinking first. */
	fill(p, 40 * MIB, 1);
	q = ash_resize(p, 4 * MIB);
	CHECK(same(p, q));
	CHECK(ash_usable_size(q) >= 4 * MIB && ash_usable_size(q) < 5 * MIB);
	for (size_t size = 5 * MIB; size <= 39 * MIB; size += 7 * MIB) {
		CHECK(same(ash_resize(p, size), p));
		holds(p, 4 * MIB, 1);
		CHECK_EQ(ash_check(), 0);
	}
	fill(p, 33 * MIB, 2); /* its last size */
	holds(p, 33 * MIB, 2);
	ash_release(p);
	CHECK_EQ(ash_check(), 0);
}

/* Something stands behind it: it must move, and again, with mappings of several origins. */
TEST(resize_span_moves, 60)
{
	unsigned char *p = ash_alloc(MIB + 1), *in_the_way[40];
	size_t most = rt_under_qemu() ? 20 * MIB : 200 * MIB, size = MIB + 1, moves = 0;
	unsigned n = 0;

	fill(p, size, 0);
	while (size * 3 / 2 < most) {
		/* Every other one ends with its page, so that its last byte is the span's. */
		size_t larger = n % 2 ? (size * 3 / 2 | 4095) + 1 : size * 3 / 2 + 4097;
		unsigned char *q;

		if (n < 40) {
			in_the_way[n] = ash_alloc(2 * MIB);
			fill(in_the_way[n], 2 * MIB, 1000 + n);
			n++;
		}
		q = NOT_NULL(ash_resize(p, larger));
		moves += q != p;
		holds(q, size, n - 1);
		fill(q, larger, n);
		p = q;
		size = larger;
		CHECK_EQ(ash_check(), 0);
	}
	CHECK(moves >= 3);
	for (unsigned i = 0; i < n; i++) {
		holds(in_the_way[i], 2 * MIB, 1000 + i);
		ash_release(in_the_way[i]);
	}
	holds(p, size, n);
	ash_release(p);
	CHECK_EQ(ash_check(), 0);
}

/* Memory that a span leaves when it moves or shrinks is not assumed to be zero. */
TEST(resize_span_leaves_no_false_zeros, 60)
{
	for (unsigned round = 0; round < (rt_under_qemu() ? 4 : 20); round++) {
		unsigned char *p = ash_alloc(3 * MIB), *way = ash_alloc(2 * MIB), *z;

		memset(p, 0xa5, 3 * MIB);
		memset(way, 0xa5, 2 * MIB);
		p = NOT_NULL(ash_resize(p, 9 * MIB));
		memset(p, 0xa5, 9 * MIB);
		if (round % 2)
			p = ash_resize(p, 2 * MIB);
		if (round % 4 > 1)
			ash_trim(0);
		z = NOT_NULL(ash_zalloc(round % 3 + 1, 3 * MIB));
		for (size_t i = 0; i < (round % 3 + 1) * 3 * MIB; i += 8)
			CHECK_EQ(*(uint64_t *)(void *)(z + i), 0);
		memset(z, 0xa5, (round % 3 + 1) * 3 * MIB);
		ash_release(z);
		ash_release(p);
		ash_release(way);
	}
}

TEST(resize_failed_keeps_block, 30)
{
	static const size_t have[] = {1, 100, 5000, 40000, MIB, MIB + 1, 7 * MIB};
	static const size_t hopeless[] = {(size_t)1 << 47,         (size_t)1 << 60, PTRDIFF_MAX,
					  (size_t)PTRDIFF_MAX + 1, SIZE_MAX - 4096, SIZE_MAX};

	for (unsigned i = 0; i < sizeof(have) / sizeof(have[0]); i++) {
		unsigned char *p = ash_alloc(have[i]);
		size_t usable = ash_usable_size(p);

		fill(p, have[i], i);
		for (unsigned j = 0; j < sizeof(hopeless) / sizeof(hopeless[0]); j++) {
			CHECK(ash_resize(p, hopeless[j]) == NULL);
			CHECK_EQ(ash_usable_size(p), usable);
			holds(p, have[i], i);
		}
		CHECK_EQ(stats_now().blocks, 1);
		CHECK_EQ(ash_check(), 0);
		ash_release(p);
	}
}

/* A block that shrinks a lot gives back the memory that it no longer needs. */
TEST(resize_shrinks, 30)
{
	for (size_t size = 64; size <= 8 * MIB; size *= 2) {
		unsigned char *p = ash_alloc(size);

		p = NOT_NULL(ash_resize(p, size / 8));
		CHECK(ash_usable_size(p) <= size / 2);
		ash_release(p);
	}
}
