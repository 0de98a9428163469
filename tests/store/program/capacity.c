/* SPDX-License-Identifier: MIT */
/* Attaching to a heap, and checking a view of it, read the file as often whatever its capacity is. */
/* promises: ash_heap_attach_file, ash_heap_create_file */
#include "ashlar_heap.h"
#include "rt.h"
#include "support/wrap.h"
#include "syscall.h"

static size_t reads, total;
WRAP(long, arch_pread64, (long fd, void *out, size_t length, long at))
{
	reads++;
	total += length;
	return __real_arch_pread64(fd, out, length, at);
}

struct cost {
	size_t attach, check, bytes;
};

static struct cost cost_of(size_t capacity)
{
	int fd = (int)arch_memfd_create("sparse", 0);
	ash_heap *heap = ash_heap_create_file(fd, capacity, NULL);
	struct cost c;
	ash_heap_view *v;
	size_t i;

	CHECK(heap != NULL);
	for (i = 0; i < 1000; i++)
		CHECK(ash_heap_alloc(heap, i * 5) != NULL);
	ash_heap_release(heap, ash_heap_alloc(heap, 20 * MIB));
	ash_heap_thread_detach(heap);
	ash_heap_destroy(heap);
	reads = 0;
	heap = NOT_NULL(ash_heap_attach_file(fd, NULL));
	c.attach = reads;
	v = NOT_NULL(ash_heap_view_file(fd, NULL));
	reads = total = 0;
	CHECK(ash_heap_view_check(v));
	c.check = reads;
	c.bytes = total;
	ash_heap_view_close(v);
	ash_heap_destroy(heap);
	arch_close(fd);
	return c;
}

TEST(sparse_capacity_is_not_read, 20)
{
	struct cost small = cost_of((size_t)1 << 30), large = cost_of((size_t)64 << 30);

	rt_print("     reads: attach %zu and %zu, check %zu and %zu\n", small.attach, large.attach, small.check,
		 large.check);
	CHECK_EQ(large.attach, small.attach);
	CHECK_EQ(large.check, small.check);
	/* The bitmaps of chunks, and the hints: 10 bits a chunk. */
	CHECK(large.bytes - small.bytes <= ((size_t)64 << 30) / (2 * MIB) * 10 / 8);
}
