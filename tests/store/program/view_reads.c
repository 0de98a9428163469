/* SPDX-License-Identifier: MIT */
/* How often a view reads its file: by what is looked at, a slab or a name, and not for each block or bucket. */
/* promises: ash_heap_view_bound, ash_heap_view_names, ash_heap_view_walk */
#include "ashlar_heap.h"
#include "rt.h"
#include "syscall.h"
#include "support/wrap.h"

static _Atomic size_t reads;
WRAP_CALL(pread64, reads++)

enum { BLOCKS = 20000, NAMES = 300 };

static int fd;
static ash_heap *heap;

static void make(bool tagged)
{
	unsigned i;

	fd = rt_memory_file("view");
	heap = NOT_NULL(ash_heap_create_file(fd, (size_t)16 << 20, NULL));
	for (i = 0; i < BLOCKS; i++)
		NOT_NULL(tagged ? ash_heap_alloc_tagged(heap, 100, (unsigned char)(i % 255 + 1)) : ash_heap_alloc(heap, 100));
}

static int count_block(void *count, UNUSED const void *p, UNUSED size_t size, UNUSED const struct ash_heap_owner *owner)
{
	++*(size_t *)count;
	return 0;
}

static int count_name(void *count, UNUSED const char *name, UNUSED const void *p)
{
	++*(size_t *)count;
	return 0;
}

static size_t walk(void)
{
	ash_heap_view *v = NOT_NULL(ash_heap_view_file(fd, NULL));
	size_t blocks = 0;

	reads = 0;
	CHECK_EQ(ash_heap_view_walk(v, count_block, &blocks), 0);
	CHECK_EQ(blocks, BLOCKS);
	ash_heap_view_close(v);
	return reads;
}

/* 112 bytes a slot: some 70 slabs.  It was two reads for each block. */
TEST(view_walk_reads_slabs, 20)
{
	size_t n;

	make(false);
	n = walk();
	rt_print("     %lu reads, %u blocks\n", n, BLOCKS);
	CHECK(n < BLOCKS / 20);
}

TEST(view_walk_reads_tags_by_groups, 20)
{
	size_t n;

	make(true);
	n = walk();
	rt_print("     %lu reads, %u blocks\n", n, BLOCKS);
	CHECK(n < BLOCKS / 8);
}

/* It was 4130 reads for either. */
TEST(view_names_are_found_by_their_hash, 20)
{
	ash_heap_view *v;
	size_t count = 0, i;
	char name[32];

	make(false);
	for (i = 0; i < NAMES; i++) {
		rt_format(name, sizeof name, "name %lu", i);
		CHECK_EQ(ash_heap_bind(heap, name, NOT_NULL(ash_heap_alloc(heap, 100))), ASH_SLOT_DONE);
	}
	v = NOT_NULL(ash_heap_view_file(fd, NULL));
	reads = 0;
	CHECK(ash_heap_view_bound(v, name) == ash_heap_view_at(v, ash_heap_find(heap, name)));
	rt_print("     %lu reads for one name of %u\n", reads, NAMES);
	CHECK(reads <= 15);
	CHECK(ash_heap_view_bound(v, "none") == NULL && ash_heap_view_bound(v, name + 1) == NULL);
	reads = 0;
	CHECK_EQ(ash_heap_view_names(v, count_name, &count), 0);
	CHECK_EQ(count, NAMES);
	rt_print("     %lu reads for all\n", reads);
	CHECK(reads <= 4 * NAMES + 40);
	ash_heap_view_close(v);
}
