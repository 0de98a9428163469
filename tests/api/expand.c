/* SPDX-License-Identifier: MIT */
/* ash_expand: the block stays where it is, or as it is. */
/* promises: ash_expand, ash_usable_size */
#include "support/blocks.h"
#include "support/pattern.h"
#include "support/resident.h"

TEST(expand_within_the_slot, 10)
{
	for (size_t size = 0; size <= MIB; size = size * 9 / 8 + 7) {
		char *p = ash_alloc(size), *other = ash_alloc(size);
		size_t usable = ash_usable_size(p);

		fill(p, usable < 5000 ? usable : 5000, 3);
		CHECK_EQ(ash_expand(p, usable), usable);
		CHECK_EQ(ash_expand(p, size), usable);
		CHECK_EQ(ash_expand(p, 0), usable);
		CHECK_EQ(ash_expand(p, 3 * MIB), 0);
		if (usable <= 32 * KIB) /* larger ones may grow, see below */
			CHECK_EQ(ash_expand(p, usable + 1), 0);
		CHECK_EQ(ash_usable_size(p), usable);
		holds(p, usable < 5000 ? usable : 5000, 3);
		ash_release(p);
		ash_release(other);
	}
	CHECK_EQ(ash_check(), 0);
}

TEST(expand_refuses, 10)
{
	char *p = ash_alloc(100), *large = ash_alloc(3 * MIB);
	size_t usable = ash_usable_size(large);

	CHECK_EQ(ash_expand(NULL, 0), 0);
	CHECK_EQ(ash_expand(NULL, 100), 0);
	CHECK_EQ(ash_expand(p, (size_t)PTRDIFF_MAX + 1), 0);
	CHECK_EQ(ash_expand(p, SIZE_MAX), 0);
	CHECK_EQ(ash_expand(large, PTRDIFF_MAX), 0);
	CHECK_EQ(ash_expand(large, SIZE_MAX), 0);
	CHECK_EQ(ash_usable_size(large), usable);
	ash_release(p);
	ash_release(large);
	CHECK_EQ(ash_check(), 0);
}

/* A block above 1 MiB gives its end back, and takes it again while no other block has it. */
TEST(expand_span, 20)
{
	size_t bytes = scaled(40 * MIB, 12 * MIB), before, i;
	char *p = ash_alloc(bytes), *way[64];

	fill(p, bytes, 1);
	before = rt_anonymous();
	CHECK(ash_expand(p, 4 * MIB) >= 4 * MIB && ash_usable_size(p) < 5 * MIB);
	(void)ash_trim(0);
	if (figures())
		CHECK(before - rt_anonymous() > 30 * MIB);
	CHECK(ash_expand(p, bytes - MIB) >= bytes - MIB);
	CHECK(ash_usable_size(p) >= bytes - MIB);
	holds(p, 4 * MIB, 1);
	fill(p, bytes - MIB, 2);
	CHECK(ash_expand(p, 1) >= 1);
	holds(p, 1, 2);
	CHECK(ash_expand(p, 4 * MIB) >= 4 * MIB);
	CHECK_EQ(ash_check(), 0);
	/* Until the memory behind it is taken. */
	for (i = 0; i < 64; i++) {
		way[i] = NOT_NULL(ash_alloc(3 * MIB));
		if (way[i] - p > 0 && way[i] - p < (ptrdiff_t)(bytes - MIB))
			break;
	}
	CHECK(i < 64);
	before = ash_usable_size(p);
	CHECK_EQ(ash_expand(p, bytes), 0);
	CHECK_EQ(ash_usable_size(p), before);
	ash_release(p);
	do
		ash_release(way[i]);
	while (i-- > 0);
	CHECK_EQ(ash_check(), 0);
}

static bool may_grow(void *p, size_t size)
{
	size_t before = ash_usable_size(p), bytes = ash_expand(p, size);

	CHECK_EQ(ash_usable_size(p), bytes != 0 ? bytes : before);
	CHECK(bytes == 0 || bytes >= size);
	CHECK_EQ(ash_check(), 0);
	return bytes != 0;
}

/* A large block grows into free memory behind it, at last to a span, where slabs have owners. */
TEST(expand_large, 10)
{
	size_t size = 40 * KIB, grown = 0, spans = 0, at;
	char *p[64], *way;

	/* Each in the way of the one before, until they come to a chunk that is free but for one. */
	for (at = 0; at < 64; at++) {
		p[at] = ash_alloc(900 * KIB);
		fill(p[at], 40 * KIB, (unsigned)at);
		if (((uintptr_t)p[at] & (2 * MIB - 1)) == 0) {
			spans += may_grow(p[at], MIB + 8);
			if (ash_usable_size(p[at]) > MIB)
				CHECK_EQ(ash_usable_size(p[at]) % (4 * KIB), 0);
		}
	}
	for (at = 0; at < 64; at++) {
		holds(p[at], 40 * KIB, (unsigned)at);
		ash_release(p[at]);
	}
	CHECK_EQ(ash_check(), 0);
	/* Step by step, until a block that is in the way. */
	p[0] = ash_alloc(size);
	fill(p[0], size, 7);
	for (; size + 32 * KIB <= MIB; size += 32 * KIB) {
		if (!may_grow(p[0], size + 32 * KIB))
			break;
		grown++;
		holds(p[0], 40 * KIB, 7);
	}
	way = ash_alloc(40 * KIB);
	holds(p[0], 40 * KIB, 7);
	for (at = 0; way != p[0] + ash_usable_size(p[0]) && at < 63; at++) {
		p[at + 1] = way;
		way = ash_alloc(40 * KIB);
	}
	if (way == p[0] + ash_usable_size(p[0]))
		CHECK_EQ(ash_expand(p[0], ash_usable_size(p[0]) + 1), 0);
	ash_release(way);
	for (; at > 0; at--)
		ash_release(p[at]);
	ash_release(p[0]);
	CHECK_EQ(ash_check(), 0);
	CHECK(grown >= 3 && spans >= 1);
}

/* The memory that a block grew into is not taken for zeroes afterwards. */
TEST(expand_dirties, 10)
{
	enum { BLOCKS = 100 };
	static unsigned char *block[BLOCKS];
	size_t size = 40 * KIB, i, k;
	unsigned char *p;
	void *keeper;

	(void)ash_trim(0);
	keeper = ash_alloc(40 * KIB); /* its chunk is not given back as a whole */
	p = ash_alloc(size);
	for (size_t more; size < MIB && (more = ash_expand(p, size + 1)) != 0; size = more)
		;
	fill((char *)p, size, 9);
	ash_release(p);
	(void)ash_trim(0);
	for (i = 0; i < BLOCKS; i++) {
		block[i] = ash_zalloc(1, 40 * KIB);
		for (k = 0; k < 40 * KIB; k++)
			CHECK(block[i][k] == 0);
	}
	ash_release(keeper);
	release_each(block, BLOCKS);
	CHECK_EQ(ash_check(), 0);
}

/* Of a span something stays. */
TEST(expand_span_to_nothing, 10)
{
	char *p = ash_alloc(3 * MIB), *q;

	CHECK(ash_expand(p, 0) > 0 && ash_usable_size(p) > 0);
	q = ash_alloc(3 * MIB);
	p[0] = 1;
	CHECK_EQ(ash_check(), 0);
	ash_release(p);
	ash_release(q);
	CHECK(stats_now().blocks == 0 && ash_check() == 0);
}
