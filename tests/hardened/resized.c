/* SPDX-License-Identifier: MIT */
/* promises: where a hardened product leaves a block that is resized, and what ash_find says of one. */
#include "support/blocks.h"
#include "support/malloc_names.h"
#include "support/pattern.h"

/* A block of 100 bytes has a slot of 112 with its word: it stays while it uses a half of them. */
TEST(hardened_resize_in_a_slot, 10)
{
	static const struct {
		size_t size;
		bool stays;
	} rows[] = {{104, true}, {105, false}, {48, true}, {47, false}, {0, false}};
	char *p, *q;

	for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
		p = memset(NOT_NULL(malloc(100)), 5, 100);
		q = NOT_NULL(ash_resize(p, rows[i].size));
		CHECK_EQ(p == q, rows[i].stays);
		CHECK(malloc_usable_size(q) == rows[i].size && (rows[i].size == 0 || q[0] == 5));
		free(q);
	}
	p = NOT_NULL(malloc(8));
	CHECK(ash_resize(p, 1) == p && malloc_usable_size(p) == 1);
	q = NOT_NULL(ash_resize(p, 0)); /* to where no byte is */
	CHECK(q != p && malloc_usable_size(q) == 0);
	free(q);
	p = NOT_NULL(malloc(100));
	CHECK(ash_expand(p, 10) == 10 && ash_expand(p, 104) == 104 && ash_expand(p, 105) == 0);
	CHECK(ash_resize(p, (size_t)PTRDIFF_MAX + 1) == NULL && ash_expand(p, SIZE_MAX) == 0);
	CHECK(malloc_usable_size(p) == 104 && ash_check() == 0);
	free(p);
	free(NOT_NULL(ash_resize(NULL, 10)));
}

TEST(hardened_resize_of_a_span, 10)
{
	char *p = NOT_NULL(malloc(3 * MIB)), *q;

	CHECK(ash_expand(p, (size_t)1 << 45) == 0);
	CHECK_EQ(malloc_usable_size(p), 3 * MIB);
	p[0] = 6;
	CHECK(ash_expand(p, 500000) == 500000 && malloc_usable_size(p) == 500000);
	q = NOT_NULL(realloc(p, 100));
	CHECK(q != p && q[0] == 6 && malloc_usable_size(q) == 100);
	free(q);
	CHECK_EQ(ash_check(), 0);
}

TEST(hardened_aligned_resize_aligns, 10)
{
	for (unsigned i = 0; i < 200; i++) {
		char *p = NOT_NULL(malloc(100)), *q;
		bool is = ((uintptr_t)p & 63) == 0;

		q = NOT_NULL(ash_aligned_resize(p, 64, 60));
		CHECK(((uintptr_t)q & 63) == 0 && (q == p) == is);
		q = NOT_NULL(ash_aligned_resize(q, 64, 5000));
		CHECK(((uintptr_t)q & 63) == 0 && malloc_usable_size(q) == 5000);
		p = NOT_NULL(ash_aligned_resize(q, 64, 4000));
		CHECK(p == q);
		free(p);
	}
	CHECK_EQ(ash_check(), 0);
}

TEST(hardened_find_tells_sizes, 10)
{
	char *p = NOT_NULL(malloc(100)), *one = NOT_NULL(malloc(1)), *none = NOT_NULL(malloc(0));
	struct ash_block b;

	CHECK(ash_find(p + 99, &b) == ASH_TAKEN && b.size == 100 && b.offset == 99);
	CHECK(ash_find(p + 100, &b) == ASH_UNUSED && b.start == p);
	CHECK(ash_find(one, &b) == ASH_TAKEN && ash_find(one + 1, &b) == ASH_UNUSED);
	CHECK(ash_find(none, &b) == ASH_TAKEN && b.size == 0);
	free(p);
	CHECK(ash_find(p, &b) == ASH_FREE && b.size == 112); /* in quarantine */
	p = NOT_NULL(ash_aligned_alloc(64, 100));
	ash_release_aligned_sized(p, 64, 100);
	CHECK(ash_find(p, &b) == ASH_FREE);
}

/* A block shrinks where it is, and reads zero when it grows again, in a region of its own or not. */
TEST(hardened_large_blocks_resized, 60)
{
	enum { APART = 1030, MANY = 1040, SIZE = 2000000, LESS = 1800000 };
	char *p;

	for (unsigned i = 0; i < MANY; i++) {
		p = NOT_NULL(malloc(SIZE));
		if (i >= 4 && i < APART)
			continue;
		memset(p, 5, SIZE);
		CHECK(realloc(p, LESS) == p);
		p = NOT_NULL(realloc(p, SIZE));
		is_zero(p + LESS, SIZE - LESS);
	}
	CHECK_EQ(ash_check(), 0);
}
