/* SPDX-License-Identifier: MIT */
/* A slot that names no block, as the program has stored something else there: misuse, which changes nothing. */
#include "ashlar_heap.h"
#include "rt.h"

static void **slots;

static void empties(void *h)
{
	(void)ash_heap_release_from(h, slots);
}

/* The release is misuse, and the slot names what it named, for who looks at it afterwards. */
static void junk_stays(ash_heap *h, void *junk)
{
	char text[512];

	slots[0] = junk;
	CHECK(rt_run_child(empties, h, text, sizeof text) >= 1000);
	CHECK(rt_strstr(text, "ash_heap_release(") != NULL);
	CHECK(slots[0] == junk);
}

TEST(publish_junk_stays, 10)
{
	static char memory[1 << 16];
	ash_heap *heap, *arena, *own = ash_heap_create(NULL);
	char *block, *released;
	int here;

	/* The slots of each heap are in memory that the child shares. */
	heap = ash_heap_create_shared((size_t)8 << 20, NULL);
	slots = NOT_NULL(ash_heap_zalloc(heap, 1, sizeof *slots));
	arena = ash_heap_create_in(memory, sizeof memory);
	block = ash_heap_alloc(heap, 100);
	released = ash_heap_alloc(heap, 5000);
	ash_heap_release(heap, released);
	junk_stays(heap, block + 16);
	junk_stays(heap, released);
	junk_stays(heap, &here);
	junk_stays(heap, (void *)4096); /* NOLINT: an address */
	junk_stays(own, (char *)ash_heap_alloc(own, 100) + 16);
	junk_stays(own, block);
	junk_stays(arena, (char *)ash_heap_alloc(arena, 100) + 16);
	junk_stays(arena, block);
	slots[0] = block;
	CHECK_EQ(ash_heap_release_from(heap, slots), ASH_SLOT_DONE);
	CHECK(slots[0] == NULL);
}
