/* SPDX-License-Identifier: MIT */
/* ash_expand: the block stays where it is, or as it is. */
#include "ashlar.h"
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
		CHECK_EQ(ash_expand(p, usable + 1), 0);
		CHECK_EQ(ash_expand(p, 3 * MIB), 0);
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
	before = rt_resident();
	CHECK(ash_expand(p, 4 * MIB) >= 4 * MIB && ash_usable_size(p) < 5 * MIB);
	(void)ash_trim(0);
	if (figures())
		CHECK(before - rt_resident() > 30 * MIB);
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
		way[i] = ash_alloc(3 * MIB);
		CHECK(way[i] != NULL);
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
