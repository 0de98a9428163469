/* SPDX-License-Identifier: MIT */
/* A heap in a file, and lies in it: one word at a time is replaced, and attaching is tried. */
#ifndef TESTS_STORE_INNER_FORGED_WORDS_H
#define TESTS_STORE_INNER_FORGED_WORDS_H

#include "ashlar_heap.h"
#include "rt.h"

#include "backend/region.h"
#include "heaps/instance.h"
#include "program/copy_of.h"
#include "store/file/open.h"
#include "store/file/store.h"
#include "syscall.h"

enum { CAPACITY = 8 << 20, BLOCKS = 40 };

static int fd;
static struct store *s; /* addresses in it: of what is not mapped */
static struct store image;
static struct region region;
static struct chunk slabs_chunk, span_chunk;
static size_t slabs_at, span_at;
static void *block, *span;
static size_t blocks_there;

static inline void get(const void *at, void *out, size_t bytes)
{
	CHECK_EQ(arch_pread64(fd, out, bytes, (const char *)at - (const char *)s), bytes);
}

static inline void put(const void *at, const void *from, size_t bytes)
{
	CHECK_EQ(arch_pwrite64(fd, from, bytes, (const char *)at - (const char *)s), bytes);
}

static inline bool is_refused(void)
{
	enum ash_attach why;
	uint64_t identity;
	/* Without recovery, which might follow a lie for ever. */
	struct store *there = store_attach(fd, NULL, &identity, &why);

	if (there != NULL) {
		store_leave(there);
		return false;
	}
	CHECK_EQ(why, ASH_ATTACH_NO_HEAP);
	return true;
}

static int count_block(void *count, UNUSED void *p, UNUSED size_t size,
		       UNUSED const struct ash_heap_owner *owner)
{
	++*(size_t *)count;
	return 0;
}

/* In a process of its own, with a copy: it is attached, all blocks are there, and it works. */
static inline void works(int line)
{
	int copy = copy_of(fd), status;
	long pid = rt_fork();
	size_t blocks = 0, i;
	char *p[200];
	ash_heap *h;

	if (pid == 0) {
		h = ash_heap_attach_file(copy, NULL);
		CHECK(h != NULL && ash_heap_walk(h, count_block, &blocks) == 0);
		CHECK(blocks == blocks_there && ash_heap_check(h) == 0);
		for (i = 0; i < 200; i++) {
			p[i] = ash_heap_alloc(h, 10 + i * 37);
			CHECK(p[i] != NULL && (size_t)(p[i] - (char *)s) < image.bytes);
		}
		for (i = 0; i < 200; i++)
			ash_heap_release(h, p[i]);
		(void)ash_heap_trim(h, 0);
		CHECK_EQ(ash_heap_check(h), 0);
		ash_heap_destroy(h);
		rt_exit(0);
	}
	status = rt_wait(pid);
	if (status != 0)
		rt_print("     the lie of line %d is followed\n", line);
	CHECK_EQ(status, 0);
	arch_close(copy);
}

static inline void must_be_refused(int line)
{
	if (!is_refused()) {
		rt_print("     the lie of line %d is believed\n", line);
		CHECK(false);
	}
}

/* What stands there is replaced for a moment. */
static inline void with_lie(const void *at, uint64_t word, size_t bytes, void (*judge)(int), int line)
{
	uint64_t was = 0;

	get(at, &was, bytes);
	CHECK(was != word);
	put(at, &word, bytes);
	judge(line);
	put(at, &was, bytes);
}
#define LIE(place, word) with_lie(&(place), (uint64_t)(word), sizeof(place), must_be_refused, __LINE__)
/* By values that no reader believes. */
#define IDLE(place, word) with_lie(&(place), (uint64_t)(word), sizeof(place), works, __LINE__)

static inline void make(void)
{
	void *p[BLOCKS];
	ash_heap *h;
	unsigned i;

	fd = (int)arch_memfd_create("sound", 0);
	h = NOT_NULL(ash_heap_create_file(fd, CAPACITY, NULL));
	s = store_of(heap_of(h));
	for (i = 0; i < BLOCKS; i++)
		p[i] = ash_heap_alloc(h, i < 20 ? 300 : 3000);
	ash_heap_release(h, p[5]);
	block = p[0];
	span = NOT_NULL(ash_heap_alloc(h, (size_t)3 << 20));
	blocks_there = BLOCKS; /* one was released, and a span came */
	ash_heap_thread_detach(h);
	slabs_at = (size_t)((char *)block - s->heap.regions->base) >> CHUNK_SHIFT;
	span_at = (size_t)((char *)span - s->heap.regions->base) >> CHUNK_SHIFT;
	ash_heap_destroy(h);
	get(s, &image, sizeof image);
	get(image.heap.regions, &region, sizeof region);
	get(region_chunk(&region, slabs_at), &slabs_chunk, sizeof slabs_chunk);
	get(region_chunk(&region, span_at), &span_chunk, sizeof span_chunk);
}

/* The slab of the block: where its record is. */
static inline struct slab *slab_of_block(void)
{
	unsigned unit = (unsigned)((uintptr_t)block >> UNIT_SHIFT) % CHUNK_UNITS;
	struct chunk *c = region_chunk(&region, slabs_at);

	return record_at(c, slabs_chunk.head[unit]);
}

#endif
