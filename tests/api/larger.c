/* SPDX-License-Identifier: MIT */
/* Where no memory is left, a block gets a free slot of a larger class. */
/* promises: ash_alloc, ash_aligned_alloc, ash_aligned_zalloc */
#include "support/blocks.h"

enum { MOST = 20000, LARGE = 5000 };

static unsigned char *blocks[MOST];
static size_t taken;

static void has(const unsigned char *p, size_t bytes, unsigned char byte)
{
	for (size_t i = 0; i < bytes; i++)
		CHECK_EQ(p[i], byte);
}

static bool is_under_a_limit(void)
{
	return !rt_under_qemu() && rt_limit_address_space(rt_address_space() + 40 * MIB);
}

/* Fills memory, and makes every second slot free. */
static void fill_and_release(void)
{
	for (taken = 0; taken < MOST && (blocks[taken] = ash_alloc(LARGE)) != NULL; taken++)
		memset(blocks[taken], 0xa5, LARGE);
	for (size_t i = 0; i < taken; i += 2) {
		ash_release(blocks[i]);
		blocks[i] = NULL;
	}
}

/* Each free slot serves, for sizes and alignments that its class has. */
static void slots_serve(size_t size, size_t alignment, bool zero)
{
	size_t n = 0;

	for (size_t i = 0; i < taken; i += 2) {
		blocks[i] = zero ? ash_aligned_zalloc(alignment, size) : alignment == 1 ? ash_alloc(size) : ash_aligned_alloc(alignment, size);
		if (blocks[i] == NULL)
			break;
		n++;
		CHECK((uintptr_t)blocks[i] % alignment == 0 && ash_usable_size(blocks[i]) >= size);
		if (zero)
			has(blocks[i], size, 0);
		memset(blocks[i], 0x5a, size);
	}
	rt_print("     %zu of %zu slots serve %zu bytes\n", n, (taken + 1) / 2, size);
	CHECK(taken > 2000 && n >= taken / 2 / 10 * 9);
	CHECK_EQ(ash_check(), 0);
	for (size_t i = 1; i < taken; i += 2)
		has(blocks[i], LARGE, 0xa5);
	for (size_t i = 0; i < 2 * n; i += 2) {
		size % 2 == 0 ? ash_release_sized(blocks[i], size) : ash_release_aligned_sized(blocks[i], alignment, size);
		blocks[i] = NULL;
	}
}

TEST(larger_slots_serve, 20)
{
	if (!is_under_a_limit())
		rt_skip("a limit of addresses has no effect under QEMU");
	fill_and_release();
	slots_serve(3000, 1, false);
	slots_serve(2999, 1, true);
	slots_serve(4096, 1, false);
	slots_serve(3000, 1024, false);
	slots_serve(1024, 1024, true);
	slots_serve(16, 16, false);
	slots_serve(1, 1, false);
	release_each(blocks, taken);
	nothing_is_left();
}

static void fill_in_another(UNUSED void *argument)
{
	fill_and_release();
}

/* Slots of a thread that has ended serve, too. */
TEST(larger_slots_of_an_ended_thread_serve, 20)
{
	ash_release(ash_alloc(1));
	if (!is_under_a_limit())
		rt_skip("a limit of addresses has no effect under QEMU");
	rt_in_thread(fill_in_another, NULL);
	slots_serve(3000, 1, false);
	release_each(blocks, taken);
	CHECK_EQ(ash_check(), 0);
}

/* Alignments that the larger class has not stay refused. */
TEST(larger_slots_are_aligned, 20)
{
	if (!is_under_a_limit())
		rt_skip("a limit of addresses has no effect under QEMU");
	fill_and_release();
	for (size_t alignment = 16; alignment <= 8192; alignment *= 2)
		for (size_t i = 0; i < 10; i++) {
			char *p = ash_aligned_alloc(alignment, alignment), *q = ash_aligned_zalloc(alignment, alignment);

			CHECK((uintptr_t)p % alignment == 0 && (uintptr_t)q % alignment == 0);
			CHECK(alignment > 1024 || (p != NULL && q != NULL));
		}
	CHECK_EQ(ash_check(), 0);
}
