/* SPDX-License-Identifier: MIT */
/* Calls for a heap that was destroyed. */
/* promises: ash_heap_destroy */
#include "support/blocks.h"
#include "support/misuse.h"
#include "support/shared_heap.h"

static ash_heap *ended;

USE(destroy, h, ash_heap_destroy(h));

static void expect(const char *call, void (*use)(void *), ash_heap *h)
{
	struct bad bad;

	bad_alone(&bad, h, "heap already destroyed");
	misuse_expect(call, use, &bad);
}

USE(use_alloc, h, CHECK(ash_heap_alloc(h, 100) == NULL));
USE(use_alloc_large, h, CHECK(ash_heap_alloc(h, 5000000) == NULL));
USE(use_zalloc, h, CHECK(ash_heap_zalloc(h, 1, 100) == NULL));
USE(use_release_in, h, ash_heap_release(h, ash_alloc(1)));
USE(use_resize_in, h, CHECK(ash_heap_resize(h, ash_alloc(1), 5) == NULL));
USE(use_trim, h, (void)ash_heap_trim(h, 0));
USE(use_check, h, (void)ash_heap_check(h));
USE(use_root, h, ash_heap_set_root(h, ash_heap_root(h)));
USE(use_detach, h, ash_heap_thread_detach(h));
USE(use_owner, h, (void)ash_heap_release_owner(h, 1));
USE(use_stats, h, (void)stats_of(h));

TEST(heap_ended_used, 20)
{
	void (*const uses[])(void *) = {use_alloc,     use_alloc_large, use_zalloc, use_release_in,
					use_resize_in, use_trim,	use_check,  use_root,
					use_detach,    use_owner,	use_stats};
	unsigned i;

	ended = ash_heap_create(NULL);
	CHECK(ash_heap_alloc(ended, 100) != NULL);
	ash_heap_destroy(ended);
	for (i = 0; i < sizeof uses / sizeof uses[0]; i++)
		expect("heap_...", uses[i], ended);
	ash_heap_destroy(NULL);
	CHECK_EQ(ash_check(), 0);
}

TEST(heap_ended_twice, 20)
{
	static char memory[65536];
	ash_heap *heap[6];
	unsigned i;

	for (i = 0; i < 6; i++)
		heap[i] = ash_heap_create(NULL);
	for (i = 0; i < 6; i++) {
		CHECK(ash_heap_alloc(heap[i], 100) != NULL);
		ash_heap_destroy(heap[i]);
		expect("heap_destroy", destroy, heap[i]);
	}
	/* The oldest are unmapped. */
	for (i = 0; i < 6; i++)
		expect("heap_destroy", destroy, heap[i]);
	if (has_shared_heaps()) {
		ended = shared_heap((size_t)8 << 20);
		ash_heap_destroy(ended);
		expect("heap_destroy", destroy, ended);
	}
	ended = ash_heap_create_in(memory, sizeof memory);
	ash_heap_destroy(ended);
	expect("heap_destroy", destroy, ended);
}

/* The records of the last four stay marks, though the next heap gets the memory of one. */
TEST(heap_ended_and_made_again, 20)
{
	enum { LAST = 4 };
	ash_heap *last[LAST] = {NULL}, *heap;
	unsigned i, k;

	for (i = 0; i < 20; i++) {
		heap = NOT_NULL(ash_heap_create(NULL));
		CHECK(ash_heap_alloc(heap, 100) != NULL);
		for (k = 0; k < LAST; k++)
			if (last[k] != NULL) {
				CHECK(last[k] != heap);
				expect("heap_...", use_alloc, last[k]);
				expect("heap_destroy", destroy, last[k]);
			}
		CHECK_EQ(ash_heap_check(heap), 0);
		ash_heap_destroy(heap);
		last[i % LAST] = heap;
	}
}

/* A heap in a block of it ended with it, as if that block had been released. */
TEST(heap_ended_with_heaps_inside, 20)
{
	static const size_t sizes[] = {100000, 1000000, (size_t)5 << 20};
	ash_heap *outer, *inner[3], *innermost;
	unsigned i, shared;

	for (shared = 0; shared < (has_shared_heaps() ? 2 : 1); shared++) {
		outer = NOT_NULL(shared ? shared_heap((size_t)32 << 20) : ash_heap_create(NULL));
		for (i = 0; i < 3; i++)
			inner[i] = NOT_NULL(ash_heap_create_in(ash_heap_alloc(outer, sizes[i]), sizes[i]));
		innermost = ash_heap_create_in(ash_heap_alloc(inner[2], 100000), 100000);
		CHECK(innermost != NULL && ash_heap_alloc(innermost, 100) != NULL);
		ash_heap_destroy(outer);
		for (i = 0; i < 3; i++)
			expect("heap_destroy", destroy, inner[i]);
		expect("heap_destroy", destroy, innermost);
	}
	CHECK_EQ(ash_check(), 0);
}
