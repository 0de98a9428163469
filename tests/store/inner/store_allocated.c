/* SPDX-License-Identifier: MIT */
/* A heap whose file is allocated at once: how much that is, and that no more is ever needed. */
#include "heaps/instance.h"
#include "rt.h"
#include "store/file/store.h"
#include "store/recover/recover.h"
#include "syscall.h"

static size_t held(int fd)
{
	struct arch_stat st;

	CHECK_EQ(arch_fstat(fd, &st), 0);
	return (size_t)st.blocks * 512;
}

static ash_heap *make(int fd, size_t capacity)
{
	const struct ash_heap_options options = {.allocate = true};

	return NOT_NULL(ash_heap_create_file(fd, capacity, &options));
}

/* What the header says: ashlar_heap_file.h. */
static void takes(size_t capacity)
{
	size_t chunks = (capacity + CHUNK_SIZE - 1) / CHUNK_SIZE, threads = chunks < 64 ? chunks * 512 << 10 : 32 << 20;
	size_t most = chunks * (CHUNK_SIZE + (324 << 10)) + threads + (3 << 20);
	int fd = (int)arch_memfd_create("allocated", 0);
	ash_heap *heap = make(fd, capacity);

	rt_print("     %lu MiB of capacity: %lu KiB\n", capacity >> 20, held(fd) >> 10);
	CHECK(held(fd) >= capacity && held(fd) <= most);
	ash_heap_destroy(heap);
	arch_close(fd);
}

TEST(store_allocated_takes_what_it_needs, 20)
{
	takes((size_t)2 << 20);
	takes((size_t)26 << 20);
	takes((size_t)200 << 20);
}

/* As many threads as have a record find it allocated; the next one has none, and allocates all the same. */
TEST(store_allocated_records, 10)
{
	int fd = (int)arch_memfd_create("allocated", 0);
	ash_heap *heap = make(fd, (size_t)2 << 20);
	struct heap *h = heap_of(heap);
	size_t before = held(fd), n;

	for (n = 0; n < 64; n++)
		owner_publish(h, NOT_NULL(store_owner(h)), recover_holder(h));
	CHECK(store_owner(h) == NULL);
	ash_heap_release(heap, NOT_NULL(ash_heap_alloc(heap, 100)));
	CHECK_EQ(store_of(h)->records_used, 64);
	CHECK_EQ(held(fd), before);
	ash_heap_destroy(heap);
	/* Nor does who attaches want more. */
	NOT_NULL(heap = ash_heap_attach_file(fd, NULL));
	ash_heap_release(heap, NOT_NULL(ash_heap_alloc(heap, 100)));
	CHECK_EQ(held(fd), before);
}
