/* SPDX-License-Identifier: MIT */
/* Aligned blocks: zeroed, resized, and released with size and alignment. */
/* promises: ash_aligned_zalloc, ash_aligned_resize, ash_release_aligned_sized */
#include "support/blocks.h"
#include "support/pattern.h"
#include "support/resident.h"

static const size_t alignments[] = {1, 8, 16, 64, 4096, 32 * KIB, 64 * KIB, MIB, 2 * MIB, 4 * MIB, 32 * MIB};
static const size_t sizes[] = {0, 1, 10, 100, 5000, 40000, 300000, MIB, 3 * MIB + 1};

static void nothing_left(void)
{
	CHECK_EQ(stats_now().blocks, 0);
	CHECK_EQ(ash_check(), 0);
}

/* The memory was written before, by blocks of the same size and alignment. */
TEST(aligned_zalloc_reads_zero, 20)
{
	for (size_t a = 0; a < N(alignments); a++)
		for (size_t s = 0; s < N(sizes); s++) {
			char *p = NOT_NULL(ash_aligned_alloc(alignments[a], sizes[s])), *other;

			memset(p, 0xa5, sizes[s]);
			ash_release(p);
			p = ash_aligned_zalloc(alignments[a], sizes[s]);
			other = ash_aligned_zalloc(alignments[a], sizes[s]);
			CHECK(p != NULL && other != NULL && p != other);
			CHECK(is_aligned(p, alignments[a]) && is_aligned(other, alignments[a]));
			CHECK(ash_usable_size(p) >= sizes[s]);
			is_zero(p, sizes[s] < 5000 || !rt_under_qemu() ? sizes[s] : 5000);
			is_zero(other, sizes[s] < 5000 || !rt_under_qemu() ? sizes[s] : 5000);
			ash_release(other);
			ash_release_aligned_sized(p, alignments[a], sizes[s]);
		}
	nothing_left();
}

/* A zeroed block is as large as others; above 1 MiB its alignment adds nothing. */
TEST(aligned_takes_what_its_size_takes, 20)
{
	static const size_t more[] = {MIB - 64 * KIB + 1, MIB + 1, MIB + 60 * KIB + 1};
	size_t bytes;

	for (size_t a = 0; a < N(alignments); a++)
		for (size_t s = 0; s < N(sizes) + N(more); s++) {
			size_t size = s < N(sizes) ? sizes[s] : more[s - N(sizes)];
			char *p = NOT_NULL(ash_aligned_alloc(alignments[a], size));

			bytes = ash_usable_size(p);
			CHECK(size <= MIB || bytes == ash_good_size(size));
			ash_release(p);
			p = NOT_NULL(ash_aligned_zalloc(alignments[a], size));
			CHECK_EQ(ash_usable_size(p), bytes);
			ash_release(p);
		}
	nothing_left();
}

TEST(aligned_zalloc_touches_nothing, 10)
{
	size_t bytes = scaled(256 * MIB, 16 * MIB), before;
	char *p;

	ash_release(ash_alloc(1));
	before = rt_anonymous();
	p = ash_aligned_zalloc(4 * MIB, bytes);
	CHECK(p != NULL && is_aligned(p, 4 * MIB));
	CHECK_EQ(p[bytes / 2], 0);
	if (figures())
		CHECK(rt_anonymous() - before < 64 * KIB);
	ash_release_aligned_sized(p, 4 * MIB, bytes);
	nothing_left();
}

TEST(aligned_refuses, 10)
{
	static const size_t bad[] = {0, 3, 24, 4097, ((size_t)1 << 30) + 1, (size_t)2 << 30, SIZE_MAX};
	char *p = ash_alloc(1000), *large = ash_alloc(3 * MIB);

	mark(p, 1000, 1);
	mark(large, 3 * MIB, 2);
	ash_release(ash_alloc(100)); /* so that there is a slot at hand */
	for (size_t i = 0; i < N(bad); i++) {
		CHECK(ash_aligned_zalloc(bad[i], 100) == NULL);
		CHECK(ash_aligned_resize(p, bad[i], 100) == NULL);
		CHECK(ash_aligned_resize(large, bad[i], 4 * MIB) == NULL);
		CHECK(ash_aligned_resize(NULL, bad[i], 100) == NULL);
	}
	for (size_t a = 0; a < N(alignments); a++) {
		CHECK(ash_aligned_zalloc(alignments[a], (size_t)PTRDIFF_MAX + 1) == NULL);
		CHECK(ash_aligned_zalloc(alignments[a], PTRDIFF_MAX) == NULL);
		CHECK(ash_aligned_zalloc(alignments[a], SIZE_MAX) == NULL);
		CHECK(ash_aligned_resize(p, alignments[a], PTRDIFF_MAX) == NULL);
		CHECK(ash_aligned_resize(p, alignments[a], SIZE_MAX) == NULL);
		CHECK(ash_aligned_resize(large, alignments[a], PTRDIFF_MAX) == NULL);
		CHECK(ash_aligned_resize(large, alignments[a], SIZE_MAX) == NULL);
	}
	marked(p, 1000, 1000, 1);
	marked(large, 3 * MIB, 3 * MIB, 2);
	ash_release_sized(p, 1000);
	ash_release_sized(large, 3 * MIB);
	nothing_left();
}

/* From any alignment to any other, and from any size to any other. */
static void resize_between(size_t from, size_t to, size_t size, size_t another, unsigned key)
{
	char *p = NOT_NULL(ash_aligned_alloc(from, size)), *q;

	mark(p, size, key);
	q = ash_aligned_resize(p, to, another);
	CHECK(q != NULL && is_aligned(q, to));
	CHECK(ash_usable_size(q) >= another);
	marked(q, size, size < another ? size : another, key);
	mark(q, another, key);
	ash_release_aligned_sized(q, to, another);
}

TEST(aligned_resize_all, 60)
{
	unsigned key = 0;

	for (size_t from = 0; from < N(alignments); from += rt_under_qemu() ? 3 : 1)
		for (size_t to = 0; to < N(alignments); to++)
			for (size_t i = 0; i < N(sizes); i++)
				for (size_t j = rt_under_qemu() ? i % 3 : 0; j < N(sizes); j += rt_under_qemu() ? 3 : 1)
					resize_between(alignments[from], alignments[to], sizes[i], sizes[j], key++);
	nothing_left();
}

/* A block that has the alignment and is not much too large stays where it is. */
TEST(aligned_resize_stays, 10)
{
	char *small = ash_aligned_alloc(64, 100), *page = ash_aligned_alloc(4096, 100),
	     *unit = ash_aligned_alloc(64 * KIB, 100), *span = ash_aligned_alloc(4 * MIB, 40 * MIB),
	     *tiny = ash_aligned_alloc(4 * MIB, 100);

	CHECK(ash_aligned_resize(small, 64, 120) == small);
	CHECK(ash_aligned_resize(page, 4096, 4096) == page && ash_aligned_resize(page, 4096, 1) == page);
	CHECK(ash_aligned_resize(unit, 64 * KIB, 65536) == unit && ash_aligned_resize(unit, 64 * KIB, 0) == unit);
	mark(span, 40 * MIB, 1);
	CHECK(ash_aligned_resize(span, 4 * MIB, 8 * MIB) == span);
	CHECK(ash_usable_size(span) < 9 * MIB);
	CHECK(ash_aligned_resize(span, 4 * MIB, 30 * MIB) == span);
	CHECK(ash_aligned_resize(tiny, 4 * MIB, 200) == tiny && ash_aligned_resize(tiny, 4 * MIB, 0) == tiny);
	CHECK_EQ(ash_check(), 0);
	ash_release(small);
	ash_release(page);
	ash_release(unit);
	ash_release(span);
	ash_release(tiny);
	nothing_left();
}

/* Of a block that is not aligned enough all is kept, although it would fit. */
TEST(aligned_resize_aligns, 10)
{
	static const size_t some[] = {20, 100, 3000, 50000, 2 * MIB};

	for (size_t i = 0; i < N(some); i++)
		for (size_t a = 0; a < N(alignments); a++) {
			char *way = ash_alloc(some[i]), *p = ash_alloc(some[i]), *q;

			mark(p, some[i], (unsigned)i);
			q = ash_aligned_resize(p, alignments[a], some[i]);
			CHECK(q != NULL && is_aligned(q, alignments[a]));
			CHECK(q != p || is_aligned(p, alignments[a]));
			marked(q, some[i], some[i], (unsigned)i);
			ash_release(q);
			ash_release(way);
		}
	nothing_left();
}

/* Its pages go with it, to any alignment. */
TEST(aligned_moves_without_faults, 20)
{
	size_t bytes = scaled(256 * MIB, 16 * MIB), i;
	unsigned char *p = ash_aligned_alloc(4 * MIB, bytes), *q;
	unsigned long faults;

	for (i = 0; i < bytes; i += 4096)
		*(size_t *)(void *)(p + i) = i;
	faults = rt_faults();
	q = ash_aligned_resize(p, 512 * MIB, 2 * bytes);
	CHECK(q != NULL && (q != p || is_aligned(p, 512 * MIB)) && is_aligned(q, 512 * MIB));
	p = ash_aligned_resize(q, 512 * MIB, bytes);
	CHECK(p == q);
	faults = rt_faults() - faults;
	if (figures())
		CHECK(faults < 100);
	for (i = 0; i < bytes; i += 4096)
		CHECK_EQ(*(size_t *)(void *)(p + i), i);
	ash_release(p);
	nothing_left();
}

/* A span that is moved for its alignment, and shrinks: the memory behind its new place is another's. */
TEST(aligned_shrinks_beside_another, 20)
{
	char *first = ash_aligned_alloc(32 * MIB, 40 * MIB), *p = ash_alloc(2 * MIB), *q, *way;

	if (is_aligned(p, 32 * MIB))
		p = ash_alloc(2 * MIB);
	p = ash_resize(p, 9 * MIB);
	CHECK(p != NULL && !is_aligned(p, 32 * MIB));
	mark(p, 9 * MIB, 1);
	CHECK(ash_expand(first, 2 * MIB) >= 2 * MIB);
	do
		way = ash_alloc(3 * MIB);
	while (way != NULL && way != first + 2 * MIB);
	CHECK(way != NULL);
	mark(way, 3 * MIB, 2);
	ash_release(first);
	q = ash_aligned_resize(p, 32 * MIB, 3 * MIB / 2);
	CHECK(q == first);
	marked(q, 9 * MIB, 3 * MIB / 2, 1);
	marked(way, 3 * MIB, 3 * MIB, 2);
	CHECK_EQ(ash_check(), 0);
}

/* Without memory for another place a block stays, if it may; else it is as it was. */
TEST(aligned_resize_without_memory, 20)
{
	char *p = ash_alloc(100), *q = ash_aligned_alloc(64, 600000), *by_chance;

	if (rt_under_qemu() || !rt_limit_address_space(rt_address_space() + 64 * MIB))
		rt_skip("a limit of addresses has no effect under QEMU");
	if (ash_aligned_alloc((size_t)1 << 30, 100) != NULL)
		rt_skip("a limit of addresses has no effect on a system of the program's own");
	mark(p, 100, 1);
	mark(q, 600000, 2);
	do
		by_chance = NOT_NULL(ash_alloc(112));
	while (!is_aligned(by_chance, 128) || ash_usable_size(by_chance) != 112);
	CHECK(ash_aligned_resize(p, (size_t)1 << 30, 100) == NULL);
	CHECK(ash_aligned_resize(p, (size_t)1 << 30, 112) == NULL);
	marked(p, 100, 100, 1);
	for (size_t size = 32 * MIB; size >= 128; size /= 2)
		while (ash_alloc(size) != NULL)
			;
	/* By where the kernel put things, one is left in some runs of a thousand. */
	while (ash_alloc(700000) != NULL)
		;
	CHECK(ash_aligned_resize(q, 64, 3 * MIB) == NULL);
	CHECK(ash_aligned_resize(q, 64, 100) == q && ash_resize(q, 128) == q);
	CHECK(ash_aligned_resize(by_chance, 128, 112) == by_chance);
	marked(q, 600000, 100, 2);
	ash_release(q);
	ash_release(p);
	CHECK_EQ(ash_check(), 0);
}

TEST(aligned_null, 10)
{
	char *p = ash_aligned_resize(NULL, 256, 100);

	CHECK(p != NULL && is_aligned(p, 256));
	ash_release(p);
	ash_release_aligned_sized(NULL, 0, 100);
	ash_release_aligned_sized(NULL, 16, 0);
	nothing_left();
}
