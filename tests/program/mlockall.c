/* SPDX-License-Identifier: MIT */
/*
 * A program that locks its memory, as real-time ones do: what is mapped from then
 * on has its pages at once, so address space reserved ahead would cost memory.
 */
/* promises: ash_alloc, ash_release */
#include "support/resident.h"
#include "support/blocks.h"
#include "syscall.h"

enum { CURRENT = 1, FUTURE = 2 };

static void lock(void)
{
	if (rt_under_qemu())
		rt_skip("resident memory is the emulator's here");
	ash_release(ash_alloc(100));
	if (arch_mlockall(CURRENT | FUTURE) != 0)
		rt_skip("this process may not lock its memory");
	/* Above the limit of a process that may not lock all it wants? */
	void *p = rt_map(2048 * MIB / 8);

	if (p == NULL)
		rt_skip("this process may not lock so much");
	rt_unmap(p, 2048 * MIB / 8);
}

static size_t above(size_t base)
{
	size_t now = rt_anonymous();

	return now > base ? now - base : 0;
}

/* Small blocks: with what a block of 1000 bytes has more, and 2 % of records. */
TEST(mlockall_small_blocks, 60)
{
	static const size_t mib[] = {20, 120, 160};
	size_t base, bytes = 0, i, total = 0;

	lock();
	base = rt_anonymous();
	for (i = 0; i < sizeof mib / sizeof *mib; i++) {
		for (total += mib[i] * MIB; bytes < total; bytes += 1000)
			CHECK(ash_alloc(1000) != NULL);
		rt_print("     %zu MiB: %zu KiB resident\n", total / MIB, above(base) / KIB);
		CHECK(above(base) <= total + total / 10 + MIB);
	}
	CHECK_EQ(ash_check(), 0);
}

/* Large ones: each as much as it is long, in whole chunks, and not longer than it lives. */
TEST(mlockall_large_blocks, 60)
{
	size_t base, i;
	unsigned char *p;

	lock();
	base = rt_anonymous();
	for (i = 0; i < 10; i++) {
		p = NOT_NULL(ash_alloc(64 * MIB));
		CHECK(above(base) <= 65 * MIB);
		ash_release(p);
		CHECK(above(base) <= MIB);
	}
	p = NOT_NULL(ash_alloc(10 * MIB));
	for (i = 40; i <= 160; i *= 2) {
		p = NOT_NULL(ash_resize(p, i * MIB));
		p[i * MIB - 1] = 1;
		rt_print("     %zu MiB: %zu KiB resident\n", i, above(base) / KIB);
		CHECK(above(base) <= i * MIB + 11 * MIB);
	}
	ash_release(p);
	CHECK(above(base) <= 11 * MIB);
	CHECK_EQ(ash_check(), 0);
}

/* Whether addresses are short is asked of the kernel without memory for them, also where the heap grows by one chunk. */
TEST(mlockall_questions_take_no_memory, 60)
{
	size_t base;

	lock();
	rt_resident_peak_reset();
	base = rt_resident_peak();
	for (unsigned i = 0; i < 4; i++)
		(void)NOT_NULL(ash_alloc(1500 * KIB));
	rt_print("     %zu KiB more\n", (rt_resident_peak() - base) / KIB);
	CHECK(rt_resident_peak() <= base + 16 * MIB);
}

/* A peak of spans goes two periods later, though the kernel refuses to purge locked memory. */
TEST(mlockall_peak_goes, 60)
{
	unsigned char *p[20];
	size_t base;

	lock();
	base = rt_anonymous();
	for (int i = 0; i < 20; i++)
		p[i] = filled(3 * MIB);
	rt_print("     %zu KiB resident\n", above(base) / KIB);
	CHECK(above(base) >= 60 * MIB);
	CHECK(above(base) <= 85 * MIB);
	release_each(p, 20);
	for (int i = 0; i < 100000; i++)
		ash_release(ash_alloc(100));
	rt_print("     %zu KiB resident\n", above(base) / KIB);
	CHECK(above(base) <= ash_defaults.retain + 2 * MIB);
	CHECK_EQ(ash_check(), 0);
}

/* Locked no more, it reserves ahead again. */
TEST(mlockall_undone, 60)
{
	size_t mappings;

	lock();
	for (size_t i = 0; i < 20 * MIB; i += 1000)
		CHECK(ash_alloc(1000) != NULL);
	CHECK_EQ(arch_munlockall(), 0);
	for (size_t i = 0; i < 20 * MIB; i += 1000)
		CHECK(ash_alloc(1000) != NULL);
	mappings = rt_address_space();
	for (size_t i = 0; i < 2 * MIB; i += 1000)
		CHECK(ash_alloc(1000) != NULL);
	CHECK_EQ(rt_address_space(), mappings);
}
