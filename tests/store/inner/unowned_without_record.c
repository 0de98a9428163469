/* SPDX-License-Identifier: MIT */
/* A heap in a file, of which all records are in use: its threads use the unowned slabs. */
#include "inner/slab/unowned.h"
#include "store/recover/recover.h"
#include "syscall.h"

static void fill_it(void *heap)
{
	size_t n = 0;

	while ((blocks[n] = ash_heap_alloc(heap, 1024)) != NULL)
		n++;
	CHECK(n > 15000 && (place_of(blocks[0]).slab->owner & OWNER_UNOWNED) != 0);
	release_all(n);
}

static void fill_without_record(int fd)
{
	ash_heap *heap = NOT_NULL(ash_heap_attach_file(fd, NULL));
	struct owner *o;

	while ((o = store_owner(heap_of(heap))) != NULL) {
		owner_reset(o);
		owner_publish(heap_of(heap), o, recover_holder(heap_of(heap)) ^ OWNER_GUEST);
	}
	store_of(heap_of(heap))->refused = 1; /* so that this call does not reap */
	rt_in_thread(fill_it, heap);
}

TEST(slabs_unowned_thread_without_record, 30)
{
	int fd = (int)arch_memfd_create("unowned", 0), other = (int)arch_memfd_create("fresh", 0);
	ash_heap *heap = ash_heap_create_file(fd, 16 * MIB, NULL), *fresh;

	CHECK(heap != NULL);
	ash_heap_destroy(heap);
	IN_CHILD
		fill_without_record(fd);
	heap = NOT_NULL(ash_heap_attach_file(fd, NULL));
	fresh = NOT_NULL(ash_heap_create_file(other, 16 * MIB, NULL));
	CHECK(fit(heap, 16 * MIB) == 1);
	fits_as(heap, fresh);
}
