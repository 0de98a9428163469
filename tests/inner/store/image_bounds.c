/* SPDX-License-Identifier: MIT */
/* What is read of an image (store/file/image.h) lies in it, and the number of its chunks is one that it can have. */
#include "store/file/image.h"

#include "ashlar_heap.h"
#include "backend/region.h"
#include "heaps/instance.h"
#include "rt.h"
#include "store/file/store.h"
#include "syscall.h"

TEST(inner_image_reads_nothing_behind_its_end, 10)
{
	static const char bytes[100] = {1, 2, 3};
	struct image m = {.fd = (int)arch_memfd_create("image", 0)};
	char out[8];

	CHECK_EQ(arch_pwrite64(m.fd, bytes, sizeof bytes, 0), sizeof bytes);
	m.head.base = (void *)((uintptr_t)1 << 40); /* NOLINT: where it would be mapped */
	CHECK(image_get(&m, (char *)m.head.base, out, 3) && out[0] == 1 && out[2] == 3);
	CHECK(image_get(&m, (char *)m.head.base + 92, out, 8) && image_get(&m, (char *)m.head.base + 100, out, 0));
	CHECK(!image_get(&m, (char *)m.head.base + 93, out, 8) && !image_get(&m, (char *)m.head.base + 101, out, 1));
	CHECK(!image_get(&m, (char *)m.head.base - 1, out, 1) && !image_get(&m, NULL, out, 1));
}

TEST(inner_image_of_so_many_chunks, 10)
{
	int fd = (int)arch_memfd_create("image", 0);
	ash_heap *heap = ash_heap_create_file(fd, 8 * MIB, NULL);
	struct store *s;
	struct region *r;
	static struct image m;
	size_t n;

	CHECK(heap != NULL);
	s = store_of(heap_of(heap));
	r = region_first(&s->heap);
	n = r->chunks;
	m.fd = fd;
	m.head.base = s;
	m.region.capacity = r->capacity;
	CHECK(image_read_chunks(&m) && m.region.chunks == n && !image_has_grown(&m));
	m.region.chunks = n - 1;
	CHECK(image_has_grown(&m) && m.region.chunks == n);
	r->chunks = 0;
	CHECK(!image_read_chunks(&m) && !image_has_grown(&m));
	r->chunks = r->capacity + 1;
	CHECK(!image_read_chunks(&m) && !image_has_grown(&m) && m.region.chunks == n);
	r->chunks = r->capacity;
	CHECK(image_read_chunks(&m) && m.region.chunks == r->capacity);
	r->chunks = n;
	CHECK_EQ(ash_heap_check(heap), 0);
}
