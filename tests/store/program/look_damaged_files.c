/* SPDX-License-Identifier: MIT */
/* Damaged images of heaps in files. */
#include "program/look_damaged.h"
#include "store/file/store.h"

static void damaged_files(unsigned images)
{
	int fd = (int)arch_memfd_create("damaged heap", 0);
	const struct store *s;
	const struct region *r;
	ash_heap *h;

	CHECK(fd >= 0);
	h = ash_heap_create_file(fd, 8 * CHUNK_SIZE, NULL);
	if (h == NULL)
		rt_skip("no shared heaps here");
	damaged_take(h);
	CHECK(ash_heap_alloc(h, (size_t)3 << 20) != NULL);
	s = store_of((struct heap *)(void *)h);
	r = s->heap.regions;
	/* The store and its descriptor, an owner record, region, bitmaps, the first chunks. */
	place_add(0, sizeof *s);
	place_add(offsetof(struct store, descriptor), sizeof s->descriptor);
	place_add((uint64_t)((char *)s->heap.owners - (const char *)s), 512);
	place_add(REGION_AT, sizeof *r + 64);
	places_of_slabs(r, (uint64_t)0 - (uintptr_t)s);
	damage_all(fd, images);
	damaged_is_told();
	CHECK_EQ(look_figure(look_text, "changed_slots"), 0);
}

TEST_CALL(look_damaged_heaps, 600, damaged_files(rt_in_full() ? 1500 : rt_under_qemu() ? 4 : 60));
