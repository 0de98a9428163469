/* SPDX-License-Identifier: MIT */
/* Pointers that are no blocks, given to each function that takes one. */
/* promises: ash_release, ash_release_sized, ash_resize, ash_usable_size */
#include "support/misuse.h"

TEST(misuse_null_is_none, 10)
{
	void *p;

	ash_release(NULL);
	ash_release_sized(NULL, 0);
	ash_release_sized(NULL, 100);
	CHECK_EQ(ash_usable_size(NULL), 0);
	p = NOT_NULL(ash_resize(NULL, 100));
	ash_release(p);
	ash_release(NULL);
}

/* ---- inside a block ---- */

MISUSE(interior)
{
	bad_in(bad, block_among(100), 16, "interior pointer", 112);
}

MISUSE(interior_by_eight)
{
	bad_in(bad, block_among(100), 104, "interior pointer", 112);
}

MISUSE(interior_of_eight)
{
	bad_in(bad, block_among(8), 4, "misaligned pointer", 8);
}

MISUSE(interior_of_large)
{
	char *p = block_among(100000);

	bad_in(bad, p, 65536, "interior pointer", ash_usable_size(p));
}

MISUSE(misaligned)
{
	bad_in(bad, block_among(100), 1, "misaligned pointer", 112);
}

MISUSE(interior_of_span)
{
	char *p = ash_alloc((size_t)5 << 20);

	bad_in(bad, p, 4096, "interior pointer", ash_usable_size(p));
}

MISUSE(interior_of_span_in_later_chunk)
{
	char *p = ash_alloc((size_t)5 << 20);

	bad_in(bad, p, ((size_t)4 << 20), "interior pointer", ash_usable_size(p));
}

/* One past the end of a span that ends inside a chunk. */
MISUSE(end_of_span)
{
	char *p = ash_alloc((size_t)5 << 20);

	bad_in(bad, p, ash_usable_size(p), "not in a block", ash_usable_size(p));
}

MISUSE(misaligned_of_span)
{
	char *p = ash_alloc((size_t)5 << 20);

	bad_in(bad, p, 1, "misaligned pointer", ash_usable_size(p));
}

/* One past the end of a block is the start of the next, which is free. */
MISUSE(end_of_block)
{
	bad_in(bad, (char *)ash_alloc(100) + 112, 0, bad->gone, 112);
}

/* 64 KiB hold 1365 slots of 48 bytes, and 16 bytes more. */
MISUSE(tail_of_slab)
{
	char *p = ash_alloc(48);

	CHECK_EQ(ash_usable_size(p), 48);
	/* Before the first of the 682 slots of a slab of 32 KiB. */
	bad_beside(bad, (char *)((uintptr_t)p & ~(uintptr_t)32767) + 16, "not in a block", 48,
		   (char *)((uintptr_t)p & ~(uintptr_t)32767) + 32);
}

/* ---- memory of others ---- */

MISUSE(stack)
{
	static void *address;
	char here;

	address = &here;
	bad_alone(bad, address, FOREIGN);
}

MISUSE(static)
{
	static char object[64];

	CHECK(ash_alloc(1) != NULL);
	bad_alone(bad, object, FOREIGN);
}

MISUSE(code)
{
	CHECK(ash_alloc(1) != NULL);
	bad_alone(bad, (void *)(uintptr_t)use_release, FOREIGN);
}

MISUSE(unmapped)
{
	char *p = rt_map(4096);

	CHECK(ash_alloc(1) != NULL);
	rt_unmap(p, 4096);
	bad_alone(bad, p, FOREIGN);
}

MISUSE(mapped_elsewhere)
{
	CHECK(ash_alloc(1) != NULL);
	bad_alone(bad, rt_map(4096), FOREIGN);
}

/* In the first call of all, when the heap has not even a region. */
MISUSE(first_call)
{
	bad_alone(bad, rt_map(4096), FOREIGN);
}

/* ---- numbers that are no pointers ---- */

/* Bits beyond the 47 of user space: the map's index drops them, so the call must test them. */
static void *live_with(uint64_t bits)
{
	return (void *)((uintptr_t)block_among(64) ^ bits);
}

MISUSE(wild_one)
{
	CHECK(ash_alloc(1) != NULL);
	bad_alone(bad, (void *)1, FOREIGN);
}

MISUSE(wild_minus_one)
{
	CHECK(ash_alloc(1) != NULL);
	bad_alone(bad, (void *)UINTPTR_MAX, FOREIGN);
}

MISUSE(wild_minus_sixteen)
{
	CHECK(ash_alloc(1) != NULL);
	bad_alone(bad, (void *)(UINTPTR_MAX - 15), FOREIGN);
}

MISUSE(wild_bit_47)
{
	bad_alone(bad, live_with((uint64_t)1 << 47), FOREIGN);
}

MISUSE(wild_bit_63)
{
	bad_alone(bad, live_with((uint64_t)1 << 63), FOREIGN);
}

/* With a tag in the top byte, which aarch64 ignores when it loads and stores. */
MISUSE(tagged)
{
	bad_alone(bad, live_with((uint64_t)0xb4 << 56), FOREIGN);
}

/* As a kernel address: what a sign-extended 48-bit pointer looks like. */
MISUSE(wild_kernel)
{
	bad_alone(bad, live_with((uint64_t)0xffff8 << 44), FOREIGN);
}

MISUSE(wild_span_bit_47)
{
	char *p = ash_alloc((size_t)5 << 20);

	bad_alone(bad, (void *)((uintptr_t)p ^ (uint64_t)1 << 47), FOREIGN);
}

MISUSE(wild_non_canonical)
{
	bad_alone(bad, (void *)0xdeadbeefdeadbee0, FOREIGN);
}
