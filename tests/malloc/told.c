/* SPDX-License-Identifier: MIT */
/* Sizes that free_sized, free_aligned_sized and sized deletes are told. */
#include "support/malloc_names.h"
#include "support/resident.h"

enum { SIGABRT = 6 };

static size_t told, alignment_told;

static void use_free_sized(void *p)
{
	free_sized(p, told);
}

static void use_delete_sized(void *p)
{
	ash_delete_sized(p, told);
}

static void use_delete_aligned(void *p)
{
	ash_delete_aligned_sized(p, told, alignment_told);
}

static void use_free_aligned(void *p)
{
	free_aligned_sized(p, alignment_told, told);
}

static void refused_for(const char *fault, const char *name, void (*use)(void *), void *p, size_t size)
{
	char text[300], expected[300];

	told = size;
	CHECK_EQ(rt_run_child(use, p, text, sizeof text), 1000 + SIGABRT);
	rt_format(expected, sizeof expected, "ashlar: %s(0x%lx): wrong %s, ", name, (unsigned long)p, fault);
	for (size_t i = 0; expected[i] != 0; i++)
		CHECK_EQ(text[i], expected[i]);
}

static void refused(const char *name, void (*use)(void *), void *p, size_t size)
{
	refused_for("size", name, use, p, size);
}

/* Nor where addresses are short: blocks have just their pages. */
TEST(told_right_under_a_limit, 20)
{
	static void *blocks[400];
	unsigned n = 0;

	needs_pages_of_4k();
	if (rt_under_qemu() || !rt_limit_address_space(rt_address_space() + 100000000))
		rt_skip("a limit of addresses has no effect under QEMU");
	while (n < 400 && (blocks[n] = malloc(300000)) != NULL)
		n++;
	CHECK(n > 100 && ash_usable_size(blocks[n - 1]) < ash_good_size(300000));
	refused("free_sized", use_free_sized, blocks[n - 1], 200000);
	while (n-- > 0)
		n % 2 == 0 ? free_sized(blocks[n], 300000) : free_aligned_sized(blocks[n], 1, 300000);
	CHECK_EQ(ash_check(), 0);
}

/* Nor where memory is short: blocks get slots of larger classes. */
TEST(told_right_of_larger_slots, 20)
{
	static void *blocks[20000];
	unsigned n = 0, i;

	if (rt_under_qemu() || !rt_limit_address_space(rt_address_space() + 40 * MIB))
		rt_skip("a limit of addresses has no effect under QEMU");
	while (n < 20000 && (blocks[n] = malloc(5000)) != NULL)
		n++;
	refused("free_sized", use_free_sized, blocks[0], 3000);
	refused("operator delete", use_delete_sized, blocks[0], 3000);
	for (i = 0; i < n; i += 2)
		free(blocks[i]);
	for (i = 0; i < n / 2; i += 2)
		CHECK((blocks[i] = i % 4 == 0 ? malloc(3000) : ash_aligned_alloc(1024, 3000)) != NULL &&
		      ash_usable_size(blocks[i]) >= 5000);
	for (i = 0; i < n / 2; i += 2)
		if (i % 4 != 0)
			i % 8 == 2 ? free_aligned_sized(blocks[i], 1024, 3000) : ash_delete_aligned_sized(blocks[i], 3000, 1024);
		else
			i % 8 == 0 ? free_sized(blocks[i], 3000) : ash_delete_sized(blocks[i], 3000);
	CHECK_EQ(ash_check(), 0);
}

/* No right size is refused, of any class, alignment and way to get the block. */
TEST(told_right, 20)
{
	static const size_t borders[] = {MIB - 32768, MIB - 32767, MIB, MIB + 1, MIB + 32768};
	struct ash_statistics st;

	for (size_t size = 0; size <= 5 * MIB; size += size < 2048 ? 1 : size / 9 + 1) {
		free_sized(malloc(size), size);
		free_sized(ash_zalloc(1, size), size);
		ash_delete_sized(malloc(size), size);
		ash_delete_sized(malloc(size), ash_good_size(size));
		for (size_t alignment = 1; alignment <= 4 * MIB; alignment *= 2) {
			free_aligned_sized(ash_aligned_alloc(alignment, size), alignment, size);
			ash_delete_aligned_sized(ash_aligned_alloc(alignment, size), size, alignment);
		}
	}
	for (unsigned i = 0; i < sizeof borders / sizeof *borders; i++)
		for (size_t alignment = 1; alignment <= MIB; alignment *= 2) {
			free_aligned_sized(ash_aligned_alloc(alignment, borders[i]), alignment, borders[i]);
			free_aligned_sized(ash_aligned_zalloc(alignment, borders[i]), alignment, borders[i]);
		}
	free_sized(NULL, 5);
	free_aligned_sized(NULL, 64, 5);
	ash_stats(&st);
	CHECK(st.blocks == 0 && ash_check() == 0);
}

/* A block that realloc kept in place, or grew there, has any size that it may have been asked for. */
TEST(told_after_realloc, 20)
{
	for (size_t size = 1; size <= 3 * MIB; size += size / 3 + 1)
		for (size_t other = 1; other <= 3 * MIB; other += other / 3 + 1)
			free_sized(realloc(malloc(size), other), other);
	CHECK_EQ(ash_check(), 0);
}

/* A block that stayed where it is, because there was no memory for a smaller block. */
static void without_memory(bool aligned)
{
	void *p = malloc(600000), *q = malloc(600000);

	if (rt_under_qemu() || !rt_limit_address_space(rt_address_space() + 64 * MIB))
		rt_skip("a limit of addresses has no effect under QEMU");
	for (size_t size = 32 * MIB; size >= 64; size /= 2)
		while (ash_alloc(size) != NULL)
			;
	CHECK((aligned ? ash_aligned_resize(p, 64, 100) : realloc(p, 100)) == p);
	free_sized(p, 100);
	free_sized(q, 600000);
	CHECK_EQ(ash_check(), 0);
}

TEST_CALL(told_after_realloc_without_memory, 20, without_memory(false));

TEST_CALL(told_after_aligned_resize_without_memory, 20, without_memory(true));

/* One that stayed as it fits: of another thread, or with an alignment. */
static void smaller(void *p)
{
	CHECK(realloc(p, 600) == p);
}

/* The next smaller class is as near as a sixteenth. */
TEST(told_after_realloc_to_the_next_class, 10)
{
	void *p = malloc(1024);

	CHECK(realloc(p, 960) == p);
	free_sized(p, 960);
	CHECK_EQ(ash_check(), 0);
}

TEST(told_after_realloc_by_another_thread, 10)
{
	void *p = malloc(1000);

	rt_in_thread(smaller, p);
	free_sized(p, 600);
	CHECK_EQ(ash_check(), 0);
}

TEST(told_after_aligned_resize, 10)
{
	void *p = ash_aligned_alloc(64, 1000);

	CHECK(ash_aligned_resize(p, 64, 600) == p);
	free_aligned_sized(p, 64, 600);
	/* All of its bytes: aligned as it is by chance, a block of this alignment would have more. */
	do
		p = malloc(112);
	while ((uintptr_t)p % 64 != 0 || ash_usable_size(p) != 112);
	CHECK(ash_aligned_resize(p, 64, 112) == p);
	free_aligned_sized(p, 64, 112);
	CHECK_EQ(ash_check(), 0);
}

/* A block that ash_expand was asked to make smaller. */
TEST(told_after_expand, 10)
{
	void *p = malloc(100000);

	CHECK(ash_expand(p, 10) > 0);
	free_sized(p, 10);
	p = malloc(40000);
	if (ash_expand(p, 90000) > 0)
		free_sized(p, 90000);
	CHECK_EQ(ash_check(), 0);
}

/*
 * What is seen of an own block: a size below its class's up to 32 KiB, above 1 MiB any other; with an alignment one
 * above the block.
 */
TEST(told_wrong, 30)
{
	static const size_t sizes[] = {16, 100, 1000, 5000, 30000, 50000, 500000, 3000000};

	for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		size_t size = sizes[i], good = ash_good_size(size), less = size <= 16 ? 8 : good - good / 8 - 16;
		void *p = malloc(size), *q = ash_aligned_alloc(64, size);

		if (size <= 32768 || size > MIB) {
			refused("free_sized", use_free_sized, p, less);
			refused("free_sized", use_free_sized, p, 0);
			refused("operator delete", use_delete_sized, p, less);
			refused("operator delete", use_delete_sized, p, 1);
		}
		if (size > MIB) {
			refused("free_sized", use_free_sized, p, good + 1);
			refused("operator delete", use_delete_sized, p, SIZE_MAX);
		}
		alignment_told = 64;
		refused("free_aligned_sized", use_free_aligned, q, ash_usable_size(q) + 1);
		refused("free_aligned_sized", use_free_aligned, q, SIZE_MAX);
		refused("operator delete", use_delete_aligned, q, ash_usable_size(q) + 1);
		if (size > MIB)
			refused("free_aligned_sized", use_free_aligned, q, less - 64);
		free_sized(p, size);
		free_aligned_sized(q, 64, size);
	}
	/* Above 1 MiB its alignment adds nothing to a block. */
	alignment_told = 32768;
	if (ash_good_size(MIB + 1) < MIB + 32768)
		refused("free_aligned_sized", use_free_aligned, ash_aligned_alloc(32768, MIB + 32768), MIB + 1);
	alignment_told = 24; /* none at all */
	refused_for("alignment", "free_aligned_sized", use_free_aligned, malloc(3 * MIB), 3 * MIB);
	refused("operator delete", use_delete_sized, malloc(32), 16);
	/* A block whose class stays does not count as kept. */
	free_sized(realloc(malloc(1024), 962), 962);
	refused("free_sized", use_free_sized, malloc(1024), 600);
	/* Once a block was kept, half of its bytes may have been asked for, and less not. */
	free_sized(realloc(malloc(1000), 600), 600);
	refused("free_sized", use_free_sized, malloc(1000), 100);
	refused("operator delete", use_delete_sized, malloc(1000), 600);
	CHECK_EQ(ash_check(), 0);
}

/* The smallest size of each class is right, and the next smaller one is seen. */
TEST(told_by_class, 30)
{
	for (size_t size = 1; size <= 32768; size = ash_good_size(size) + 1) {
		ash_delete_sized(malloc(size), size);
		free_sized(malloc(size), size);
		if (size > 1)
			refused("operator delete", use_delete_sized, malloc(size), size - 1);
	}
	CHECK_EQ(ash_check(), 0);
}

static void of_another(void *blocks)
{
	for (size_t i = 0, size = 1; size <= MIB; size = ash_good_size(size) + 1)
		((void **)blocks)[i++] = malloc(size);
}

/* A wrong size that is not seen does no harm: the block is released, and no other. */
TEST(told_wrong_unseen, 20)
{
	static void *blocks[128];
	struct ash_statistics st;

	for (size_t size = 1; size <= MIB; size = ash_good_size(size) + 1) {
		ash_delete_sized(malloc(size), ash_good_size(size) + 1);
		ash_delete_aligned_sized(malloc(size), 1, 16);
	}
	for (unsigned call = 0; call < 4; call++) {
		rt_in_thread(of_another, blocks);
		for (size_t i = 0; i < 128 && blocks[i] != NULL; i++) {
			if (call == 0)
				ash_delete_sized(blocks[i], 1);
			else if (call == 1)
				ash_delete_aligned_sized(blocks[i], 5 * MIB, 16);
			else if (call == 2)
				free_sized(blocks[i], SIZE_MAX);
			else
				free_aligned_sized(blocks[i], 3, 0);
		}
	}
	ash_stats(&st);
	CHECK(st.blocks == 0 && ash_check() == 0);
}
