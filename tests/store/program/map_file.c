/* SPDX-License-Identifier: MIT */
/* The map of a process that attaches to a heap in a file. */
#include "backend/region.h"
#include "inner/slots.h"
#include "program/child.h"
#include "program/faults.h"
#include "slab/slab.h"
#include "support/blocks.h"
#include "support/misuse.h"

static void make_heap(void *fd)
{
	ash_heap *heap = NOT_NULL(ash_heap_create_file(*(int *)fd, 8 * MIB, NULL));

	CHECK(ash_heap_alloc(heap, 100) != NULL);
	ash_heap_thread_detach(heap);
	ash_heap_destroy(heap);
}

/* No memory for the leaf that a heap file's chunks come into: a reason, and it works later. */
TEST(map_leaf_of_a_heap_file_without_memory, 10)
{
	enum ash_attach why = ASH_ATTACHED;
	int fd = (int)arch_memfd_create("leaf", 0), empty = (int)arch_memfd_create("leaf", 0);
	size_t space = 0;
	ash_heap *heap;

	CHECK(ash_alloc(100) != NULL);	       /* takes the leaf that needs no memory */
	CHECK_EQ(in_child(make_heap, &fd), 0); /* not in this process: it has no leaf there */
	faults.mmap_not = sizeof(struct map_leaf);
	for (int i = 0; i < 3; i++) {
		CHECK(ash_heap_attach_file(fd, &why) == NULL);
		CHECK_EQ(why, ASH_ATTACH_NO_MEMORY);
		CHECK(ash_heap_create_file(empty, 8 * MIB, NULL) == NULL);
		if (i == 0)
			space = rt_address_space();
	}
	CHECK(rt_under_qemu() || rt_address_space() == space);
	faults.mmap_not = 0;
	heap = ash_heap_attach_file(fd, &why);
	CHECK(heap != NULL && why == ASH_ATTACHED);
	CHECK_EQ(stats_of(heap).blocks, 1);
	CHECK_EQ(ash_heap_check(heap), 0);
	ash_heap_destroy(heap);
	make_heap(&empty);
}
