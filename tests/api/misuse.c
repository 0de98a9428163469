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

MISUSE_CALL(interior, bad_in(bad, block_among(100), 16, "interior pointer", 112));
MISUSE_CALL(interior_by_eight, bad_in(bad, block_among(100), 104, "interior pointer", 112));
MISUSE_CALL(interior_of_eight, bad_in(bad, block_among(8), 4, "misaligned pointer", 8));
MISUSE_CALL(interior_of_large, bad_inside(bad, block_among(100000), 65536, "interior pointer"));
MISUSE_CALL(misaligned, bad_in(bad, block_among(100), 1, "misaligned pointer", 112));
MISUSE_CALL(interior_of_span, bad_inside(bad, ash_alloc(5 * MIB), 4096, "interior pointer"));
MISUSE_CALL(interior_of_span_in_later_chunk, bad_inside(bad, ash_alloc(5 * MIB), 4 * MIB, "interior pointer"));

/* One past the end of a span that ends inside a chunk. */
MISUSE_CALL(end_of_span, bad_inside(bad, ash_alloc(5 * MIB), 5 * MIB, "not in a block"));
MISUSE_CALL(misaligned_of_span, bad_inside(bad, ash_alloc(5 * MIB), 1, "misaligned pointer"));

/* One past the end of a block is the start of the next, which is free. */
MISUSE_CALL(end_of_block, bad_in(bad, (char *)ash_alloc(100) + 112, 0, bad->gone, 112));

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

static char object[64];
MISUSE_CALL(static, bad_foreign(bad, object));
MISUSE_CALL(code, bad_foreign(bad, (void *)(uintptr_t)use_release));

MISUSE(unmapped)
{
	char *p = rt_map(4096);

	CHECK(ash_alloc(1) != NULL); /* first: its region is not mapped there */
	rt_unmap(p, 4096);
	bad_alone(bad, p, FOREIGN);
}

MISUSE_CALL(mapped_elsewhere, bad_foreign(bad, rt_map(4096)));

/* In the first call of all, when the heap has not even a region. */
MISUSE_CALL(first_call, bad_alone(bad, rt_map(4096), FOREIGN));

/* ---- numbers that are no pointers ---- */

/* Bits beyond the 47 of user space: the map's index drops them, so the call must test them. */
static void *live_with(uint64_t bits)
{
	return (void *)((uintptr_t)block_among(64) ^ bits);
}

MISUSE_CALL(wild_one, bad_foreign(bad, (void *)1));
MISUSE_CALL(wild_minus_one, bad_foreign(bad, (void *)UINTPTR_MAX));
MISUSE_CALL(wild_minus_sixteen, bad_foreign(bad, (void *)(UINTPTR_MAX - 15)));
MISUSE_CALL(wild_bit_47, bad_alone(bad, live_with((uint64_t)1 << 47), FOREIGN));
MISUSE_CALL(wild_bit_63, bad_alone(bad, live_with((uint64_t)1 << 63), FOREIGN));

/* With a tag in the top byte, which aarch64 ignores when it loads and stores. */
MISUSE_CALL(tagged, bad_alone(bad, live_with((uint64_t)0xb4 << 56), FOREIGN));

/* A sign-extended 48-bit pointer looks like a kernel address. */
MISUSE_CALL(wild_kernel, bad_alone(bad, live_with((uint64_t)0xffff8 << 44), FOREIGN));
MISUSE_CALL(wild_span_bit_47, bad_alone(bad, (void *)((uintptr_t)ash_alloc(5 * MIB) ^ (uint64_t)1 << 47), FOREIGN));
MISUSE_CALL(wild_non_canonical, bad_alone(bad, (void *)0xdeadbeefdeadbee0, FOREIGN));
