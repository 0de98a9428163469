/* SPDX-License-Identifier: MIT */
/* Heaps that the program made: aligned blocks, blocks that expand, and the heap of a block. */
/* promises: ash_heap_aligned_alloc, ash_heap_aligned_zalloc, ash_heap_aligned_resize, ash_heap_release_aligned_sized */
/* promises: ash_heap_expand, ash_heap_of, ash_heap_usable_size */
#include "support/blocks.h"
#include "support/misuse.h"
#include "support/pattern.h"
#include "support/shared_heap.h"

static _Alignas(64) char memory[12 << 20];
static ash_heap *make(unsigned kind)
{
	ash_heap *heap;

	switch (kind) {
	case 0:
		heap = ash_heap_create(NULL);
		break;
	case 1:
		heap = has_shared_heaps() ? shared_heap(64 * MIB) : ash_heap_create(&(struct ash_heap_options){.cap = 64 * MIB});
		break;
	default:
		heap = ash_heap_create_in(memory, sizeof memory);
	}
	CHECK(heap != NULL);
	return heap;
}
enum { KINDS = 3, IN_MEMORY = 2 };

static void nothing_left(ash_heap *heap)
{
	CHECK(stats_of(heap).blocks == 0 && ash_heap_check(heap) == 0);
	ash_heap_destroy(heap);
}

static const size_t alignments[] = {8, 64, 4096, 64 * KIB, MIB, 4 * MIB};
static const size_t sizes[] = {1, 100, 5000, 100000, 2 * MIB};

TEST(heap_aligned_zalloc, 20)
{
	for (unsigned kind = 0; kind < KINDS; kind++) {
		ash_heap *heap = make(kind);

		for (size_t a = 0; a < N(alignments); a++)
			for (size_t s = 0; s < N(sizes); s++) {
				char *p = NOT_NULL(ash_heap_aligned_alloc(heap, alignments[a], sizes[s]));

				memset(p, 0xa5, sizes[s]);
				ash_heap_release(heap, p);
				p = ash_heap_aligned_zalloc(heap, alignments[a], sizes[s]);
				CHECK(p != NULL && is_aligned(p, alignments[a]));
				is_zero(p, sizes[s] < 5000 || !rt_under_qemu() ? sizes[s] : 5000);
				CHECK(ash_heap_of(p) == heap);
				ash_heap_release_aligned_sized(heap, p, alignments[a], sizes[s]);
			}
		CHECK(ash_heap_aligned_zalloc(heap, 3, 100) == NULL);
		CHECK(ash_heap_aligned_zalloc(heap, 16, SIZE_MAX) == NULL);
		nothing_left(heap);
	}
}

/* By the call that is told the heap, and by the one that finds it. */
static void resize_all(ash_heap *heap, bool told)
{
	for (size_t from = 0; from < N(alignments); from++)
		for (size_t to = 0; to < N(alignments); to++)
			for (size_t i = 0; i < N(sizes); i += 1 + rt_under_qemu())
				for (size_t j = 0; j < N(sizes); j++) {
					size_t kept = sizes[i] < sizes[j] ? sizes[i] : sizes[j];
					char *p = ash_heap_aligned_alloc(heap, alignments[from], sizes[i]), *q;

					kept = kept < 3000 ? kept : 3000;
					CHECK(p != NULL);
					fill(p, kept, (unsigned)j);
					q = told ? ash_heap_aligned_resize(heap, p, alignments[to], sizes[j])
						 : ash_aligned_resize(p, alignments[to], sizes[j]);
					CHECK(q != NULL && is_aligned(q, alignments[to]));
					CHECK(ash_heap_of(q) == heap && ash_heap_usable_size(heap, q) >= sizes[j]);
					holds(q, kept, (unsigned)j);
					if (told)
						ash_heap_release_aligned_sized(heap, q, alignments[to], sizes[j]);
					else
						ash_release_aligned_sized(q, alignments[to], sizes[j]);
				}
}

TEST(heap_aligned_resize, 30)
{
	for (unsigned kind = 0; kind < KINDS; kind++) {
		ash_heap *heap = make(kind);
		char *p = ash_heap_aligned_resize(heap, NULL, 256, 100);

		CHECK(p != NULL && is_aligned(p, 256));
		fill(p, 100, 1);
		CHECK(ash_heap_aligned_resize(heap, p, 12, 100) == NULL);
		CHECK(ash_heap_aligned_resize(heap, p, 16, SIZE_MAX) == NULL);
		CHECK(ash_aligned_resize(p, 16, PTRDIFF_MAX) == NULL);
		CHECK(ash_aligned_resize(p, 0, 50) == NULL && ash_heap_usable_size(heap, p) >= 100);
		holds(p, 100, 1);
		ash_heap_release_sized(heap, p, 100);
		ash_heap_release_aligned_sized(heap, NULL, 0, 100);
		resize_all(heap, true);
		resize_all(heap, false);
		nothing_left(heap);
	}
	CHECK_EQ(ash_check(), 0);
}

/* A full heap: NULL, and the block as it was; one that is aligned and shrinks needs no memory. */
TEST(heap_aligned_resize_of_a_full_heap, 10)
{
	for (unsigned kind = 1; kind < KINDS; kind++) {
		ash_heap *heap = make(kind);
		char *p = ash_heap_aligned_alloc(heap, 4096, 3 * MIB), *first = NULL, *last = NULL;

		fill(p, 5000, 1);
		for (size_t size = 4 * MIB; size >= 16; size /= 2)
			while ((last = ash_heap_alloc(heap, size)) != NULL) {
				*(char **)(void *)last = first;
				first = last;
			}
		/* Addresses are random: it may be aligned already. */
		CHECK(is_aligned(p, 64 * MIB) || ash_heap_aligned_resize(heap, p, 64 * MIB, 3 * MIB) == NULL);
		CHECK(ash_aligned_resize(p, 4096, 9 * MIB) == NULL);
		CHECK_EQ(ash_heap_expand(heap, p, 60 * MIB), 0);
		CHECK(ash_heap_usable_size(heap, p) >= 3 * MIB);
		p = ash_heap_aligned_resize(heap, p, 4096, 5000);
		CHECK(p != NULL && is_aligned(p, 4096));
		holds(p, 5000, 1);
		ash_heap_release(heap, p);
		for (; first != NULL; first = last) {
			last = *(char **)(void *)first;
			ash_heap_release(heap, first);
		}
		nothing_left(heap);
	}
}

TEST(heap_expand, 20)
{
	for (unsigned kind = 0; kind < KINDS; kind++) {
		ash_heap *heap = make(kind);
		char *p = ash_heap_alloc(heap, 100), *large = ash_heap_alloc(heap, 6 * MIB);
		size_t usable = ash_usable_size(p);

		fill(p, 100, 1);
		fill(large, MIB, 2);
		CHECK_EQ(ash_heap_expand(heap, NULL, 10), 0);
		CHECK_EQ(ash_heap_expand(heap, p, (size_t)PTRDIFF_MAX + 1), 0);
		CHECK_EQ(ash_heap_expand(heap, p, usable), usable);
		/* The large block stands behind it, or the slot ends here. */
		CHECK_EQ(ash_heap_expand(heap, p, 10000), 0);
		CHECK_EQ(ash_expand(p, 10000), 0);
		CHECK_EQ(ash_usable_size(p), usable);
		CHECK(ash_heap_expand(heap, large, MIB) >= MIB && ash_usable_size(large) < 3 * MIB);
		CHECK(ash_expand(large, 5 * MIB) >= 5 * MIB);
		CHECK(ash_heap_usable_size(heap, large) >= 5 * MIB);
		CHECK(ash_expand(large, MIB) >= MIB && ash_usable_size(large) < 3 * MIB);
		holds(p, 100, 1);
		holds(large, MIB, 2);
		if (kind == IN_MEMORY) {
			CHECK_EQ(ash_heap_expand(heap, p, 10), 16);
			CHECK_EQ(ash_heap_expand(heap, p, 100), 112);
			CHECK_EQ(ash_heap_expand(heap, large, 11 * MIB), 11 * MIB);
			CHECK_EQ(ash_heap_expand(heap, large, 12 * MIB), 0);
		}
		ash_heap_release(heap, p);
		ash_heap_release(heap, large);
		nothing_left(heap);
	}
}

/* A heap in a block that could not be expanded is there still; one in a block that shrank is not. */
TEST(heap_expand_around_a_heap, 10)
{
	for (unsigned kind = 0; kind <= KINDS; kind++) {
		ash_heap *outer = kind < KINDS ? make(kind) : NULL, *inner;
		char *p = outer != NULL ? ash_heap_alloc(outer, 3 * MIB) : ash_alloc(3 * MIB), *block;

		inner = ash_heap_create_in(p, 3 * MIB);
		CHECK(inner != NULL && (block = ash_heap_alloc(inner, 1000)) != NULL);
		CHECK(ash_heap_of(block) == inner);
		CHECK_EQ(ash_expand(p, (size_t)PTRDIFF_MAX / 2), 0);
		CHECK(ash_heap_of(block) == inner);
		(void)ash_expand(p, 4 * MIB);
		CHECK(ash_heap_of(block) == inner);
		ash_release(block);
		CHECK((block = ash_heap_alloc(inner, 1000)) != NULL);
		CHECK(ash_expand(p, 2 * MIB) >= 2 * MIB);
		CHECK(ash_heap_of(block) == outer);
		ash_release(p);
		if (outer != NULL)
			nothing_left(outer);
	}
	CHECK_EQ(ash_check(), 0);
}

/* ---- the heap of a block ---- */

TEST(heap_of_a_block, 10)
{
	ash_heap *one, *heap[KINDS], *inner;
	static char object;
	char here, *p;

	CHECK(ash_heap_of(NULL) == NULL && ash_heap_of(&here) == NULL && ash_heap_of(&object) == NULL);
	p = ash_alloc(100);
	CHECK(ash_heap_of(p) == NULL);
	one = ash_heap_create(NULL);
	for (unsigned kind = 0; kind < KINDS; kind++)
		heap[kind] = make(kind);
	for (unsigned kind = 0; kind < KINDS; kind++)
		for (size_t size = 10; size < 3 * MIB; size *= 17) {
			char *block = NOT_NULL(ash_heap_alloc(heap[kind], size));

			CHECK(ash_heap_of(block) == heap[kind] && ash_heap_of(block + size - 1) == heap[kind]);
			ash_heap_release(heap[kind], block);
		}
	CHECK(ash_heap_of(p) == NULL && ash_heap_of(&object) == NULL);
	CHECK(ash_heap_of((void *)UINTPTR_MAX) == NULL && ash_heap_of((void *)((uintptr_t)1 << 47)) == NULL);
	ash_release(p);
	p = ash_heap_alloc(one, 200000);
	CHECK(ash_heap_of(p) == one);
	inner = ash_heap_create_in(p, 200000);
	CHECK(inner != NULL && ash_heap_of(ash_heap_alloc(inner, 10)) == inner);
	CHECK(ash_heap_of(p) == one); /* the record of the inner heap is in a block of the outer one */
	for (unsigned kind = 0; kind < KINDS; kind++)
		ash_heap_destroy(heap[kind]);
	ash_heap_destroy(one);
	CHECK(ash_heap_of(memory + sizeof memory / 2) == NULL);
	CHECK(ash_heap_of(p) == NULL);
}

/* ---- misuse ---- */

static ash_heap *heap, *other;
static size_t size = 1, alignment = 1;

USE(release_given, p, ash_heap_release_aligned_sized(heap, p, alignment, size));
USE(resize_in, p, CHECK(ash_heap_aligned_resize(heap, p, 64, 50) == NULL));
USE(expand_in, p, CHECK(ash_heap_expand(heap, p, 50) == 0));

static void expect_each(struct bad *bad)
{
	misuse_expect("heap_release_aligned_sized", release_given, bad);
	misuse_expect("heap_aligned_resize", resize_in, bad);
	misuse_expect("heap_expand", expand_in, bad);
}

TEST(heap_aligned_misuse, 10)
{
	for (unsigned kind = 0; kind < KINDS; kind++) {
		struct bad bad;
		char *p, *q;

		heap = make(kind);
		other = ash_heap_create(NULL);
		p = ash_heap_aligned_alloc(heap, 64, 100);
		q = ash_heap_alloc(other, 100);
		bad_in(&bad, p, 16, "interior pointer", ash_usable_size(p));
		expect_each(&bad);
		bad = (struct bad){.p = q, .fault = "not a block of this heap"};
		expect_each(&bad);
		bad_in(&bad, p, 0, "wrong size", ash_usable_size(p));
		size = ash_usable_size(p) + 1;
		misuse_expect("heap_release_aligned_sized", release_given, &bad);
		size = 1;
		bad_in(&bad, p, 0, "wrong alignment", ash_usable_size(p));
		for (alignment = 64; is_aligned(p, alignment); alignment *= 2)
			;
		misuse_expect("heap_release_aligned_sized", release_given, &bad);
		alignment = 24;
		misuse_expect("heap_release_aligned_sized", release_given, &bad);
		alignment = 1;
		ash_heap_destroy(heap);
		ash_heap_destroy(other);
	}
}
