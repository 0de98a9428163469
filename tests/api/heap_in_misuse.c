/* SPDX-License-Identifier: MIT */
/* Heaps inside memory of the caller's: misuse. */
/* promises: ash_heap_release, ash_heap_release_sized, ash_heap_resize, ash_heap_usable_size */
#include "support/misuse.h"

static _Alignas(64) char memory[1 << 20];
static ash_heap *heap;

/* ---- misuse, by the calls that know no heap ---- */

static char *block_in(size_t size)
{
	heap = ash_heap_create_in(memory, sizeof memory);
	CHECK(ash_heap_alloc(heap, 700) != NULL);
	return ash_heap_alloc(heap, size);
}

MISUSE_CALL(in_interior, bad_in(bad, block_in(5000), 16, "interior pointer", 5008));
MISUSE_CALL(in_interior_far, bad_in(bad, block_in(5000), 4992, "interior pointer", 5008));
MISUSE_CALL(in_misaligned, bad_in(bad, block_in(40), 8, "misaligned pointer", 48));
MISUSE_CALL(in_released, released_alone(bad, block_in(40), bad->gone));
MISUSE_CALL(in_released_long, released_alone(bad, block_in(4000), bad->gone));

MISUSE(in_behind_resized)
{
	char *p = block_in(4000);

	CHECK(ash_resize(p, 100) == p);
	bad_alone(bad, p + 112, bad->gone);
}

MISUSE(in_record)
{
	(void)block_in(40);
	bad_alone(bad, memory + 64, RECORDS);
}

MISUSE_CALL(in_bitmap, bad_alone(bad, (char *)(((uintptr_t)block_in(40) & ~(uintptr_t)1023) - 4096), RECORDS));

MISUSE(in_before)
{
	(void)block_in(40);
	bad_alone(bad, memory - 16, FOREIGN);
}

MISUSE(in_destroyed)
{
	char *p = block_in(40);

	ash_heap_destroy(heap);
	bad_alone(bad, p, FOREIGN);
}

MISUSE(in_a_block_released)
{
	heap = ash_heap_create_in(block_among(200000), 200000);
	released_alone(bad, ash_heap_alloc(heap, 40), bad->gone);
}

/* ---- and by those of a heap ---- */

static ash_heap *other;

USE(other_release, p, ash_heap_release(other, p));
USE(other_release_sized, p, ash_heap_release_sized(other, p, 1));
USE(other_resize, p, CHECK(ash_heap_resize(other, p, 50) == NULL));
USE(other_usable_size, p, CHECK(ash_heap_usable_size(other, p) == 0));

static void expect_all(void *p, const char *released, const char *gone)
{
	struct bad bad = {.p = p};

	rt_format(bad.fault, sizeof bad.fault, "%s", released);
	misuse_expect("heap_release", other_release, &bad);
	misuse_expect("heap_release_sized", other_release_sized, &bad);
	rt_format(bad.fault, sizeof bad.fault, "%s", gone);
	misuse_expect("heap_resize", other_resize, &bad);
	misuse_expect("heap_usable_size", other_usable_size, &bad);
}

#define THIS "not a block of this heap"

TEST(heap_in_misuse_of_heaps, 20)
{
	static char second[100000], interior[90];
	char *p = block_in(40), *block, *q;

	/* A field's block, for another field, for a heap of mappings; and the other way round. */
	other = ash_heap_create_in(second, sizeof second);
	expect_all(p, THIS, THIS);
	expect_all(ash_alloc(50), THIS, THIS);
	other = ash_heap_create(NULL);
	expect_all(p, THIS, THIS);
	q = ash_heap_alloc(other, 50);
	block = ash_heap_alloc(other, 100000);
	rt_format(interior, sizeof interior, "interior pointer, %zu-byte block at 0x%lx",
		  ash_heap_good_size(other, 100000), (unsigned long)block);
	expect_all(block + 8, interior, interior);
	/* A field in its block: the block is the heap's, a block inside it is not. */
	heap = ash_heap_create_in(block, 100000);
	p = ash_heap_alloc(heap, 40);
	expect_all(p, THIS, THIS);
	other = heap;
	expect_all(q, THIS, THIS);
	expect_all(block, THIS, THIS);
	ash_heap_release(heap, p);
	expect_all(p, "double free", "block already released");
	q = ash_heap_alloc(heap, 4000);
	rt_format(interior, sizeof interior, "interior pointer, 4000-byte block at 0x%lx",
		  (unsigned long)q);
	expect_all(p + 160, interior, interior);
}

USE(wrong_size, p, ash_heap_release_sized(heap, p, 49));
USE(wrong_size_of_any, p, ash_release_sized(p, 49));

TEST(heap_in_misuse_wrong_size, 10)
{
	struct bad bad;

	bad_in(&bad, block_in(40), 0, "wrong size", 48);
	misuse_expect("heap_release_sized", wrong_size, &bad);
	misuse_expect("release_sized", wrong_size_of_any, &bad);
}
