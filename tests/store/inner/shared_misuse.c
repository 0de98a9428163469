/* SPDX-License-Identifier: MIT */
/* Releases that are misuse, of blocks in another process's slab, or that another thread released before. */
#include "ashlar_heap.h"
#include "support/blocks.h"
#include "support/misuse.h"
#include "support/shared_heap.h"

static ash_heap *heap, *other;

/* Each use is in a process of its own, which has a record in both heaps before. */
static void release_here(void *p)
{
	for (unsigned i = 0; i < 3; i++) {
		ash_heap_release(heap, ash_heap_alloc(heap, 100));
		ash_heap_release(other, ash_heap_alloc(other, 100));
	}
	ash_heap_release(heap, p);
}

static void release_anywhere(void *p)
{
	for (unsigned i = 0; i < 3; i++)
		ash_release(ash_heap_alloc(heap, 100));
	ash_release(p);
}

TEST(shared_misuse_of_anothers_blocks, 20)
{
	struct bad bad;
	char *p, *q;

	heap = ash_heap_create_shared(16 * MIB, NULL);
	other = ash_heap_create_shared(16 * MIB, NULL);
	if (heap == NULL || other == NULL)
		rt_skip("no shared heaps here");
	p = NOT_NULL(ash_heap_alloc(heap, 100));
	CHECK(ash_heap_alloc(heap, 100) != NULL); /* the slab does not get empty */
	q = NOT_NULL(ash_heap_alloc(other, 100));
	bad_in(&bad, p, 16, "interior pointer", 112);
	misuse_expect("heap_release", release_here, &bad);
	misuse_expect("release", release_anywhere, &bad);
	bad_alone(&bad, q, "not a block of this heap");
	misuse_expect("heap_release", release_here, &bad);
	/* Released before by this process, and by another one. */
	for (unsigned by_another = 0; by_another < 2; by_another++) {
		p = NOT_NULL(ash_heap_alloc(heap, 100));
		if (by_another)
			IN_CHILD
				release_here(p);
		else
			ash_heap_release(heap, p);
		bad_in(&bad, p, 0, "double free", 112);
		misuse_expect("heap_release", release_here, &bad);
		misuse_expect("release", release_anywhere, &bad);
	}
	CHECK_EQ(ash_heap_check(heap), 0);
	CHECK_EQ(ash_heap_check(other), 0);
}

struct released {
	ash_heap *heap;
	void *p;
};

static void release_once(void *block)
{
	const struct released *b = block;

	ash_heap_release(b->heap, b->p);
}

/* The slab's owner has not collected the other thread's release. */
static void release_after_another(void *of)
{
	struct released b = {of, NOT_NULL(ash_heap_alloc(of, 100))};

	CHECK(ash_heap_alloc(of, 100) != NULL); /* the slab does not get empty */
	rt_in_thread(release_once, &b);
	release_once(&b);
}

static void found_after_another(ash_heap *of)
{
	char text[400];

	CHECK_EQ(rt_run_child(release_after_another, of, text, sizeof text), misuse_status());
	CHECK(rt_strstr(text, "): double free, 112-byte block") != NULL);
}

TEST_CALL(misuse_of_another_threads_release_shared, 20, found_after_another(shared_heap(16 * MIB)));
TEST_CALL(misuse_of_another_threads_release_private, 20, found_after_another(NOT_NULL(ash_heap_create(NULL))));
