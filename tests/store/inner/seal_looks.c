/* SPDX-License-Identifier: MIT */
/* Calls that look at a sealed heap leave the seal whole. */
#include "support/blocks.h"
#include "syscall.h"

static ash_heap *heap;

static int sees(void *context, void *block, UNUSED size_t size, UNUSED const struct ash_heap_owner *owner)
{
	return block == context;
}

static int names(UNUSED void *context, UNUSED const char *name, UNUSED void *p)
{
	return 1;
}

TEST(seal_stays_under_looks, 10)
{
	int fd = (int)arch_memfd_create("looks", 0);
	struct ash_block b;
	uint64_t seal;
	void *p;

	heap = NOT_NULL(ash_heap_create_file(fd, 8 << 20, NULL));
	p = ash_heap_zalloc(heap, 1, 100);
	CHECK_EQ(ash_heap_sync(heap), ASH_SYNC_SEALED);
	seal = ash_heap_seal(heap);
	CHECK_EQ(ash_heap_check(heap), 0);
	CHECK_EQ(ash_heap_walk(heap, sees, p), 1);
	CHECK(stats_of(heap).blocks > 0);
	CHECK(ash_heap_of(p) == heap && ash_find(p, &b) == ASH_TAKEN);
	CHECK(ash_heap_find(heap, "none") == NULL && ash_heap_names(heap, names, NULL) == 0);
	CHECK(ash_heap_load(heap, p) == NULL);
	CHECK(ash_heap_pointer(heap, ash_heap_offset(heap, p)) == p);
	CHECK(ash_heap_extend(heap, 1) && !ash_heap_extend(heap, SIZE_MAX));
	ash_heap_thread_detach(heap);
	CHECK(seal != 0 && ash_heap_seal(heap) == seal);
}
