/* SPDX-License-Identifier: MIT */
/*
 * What looks at a heap in a file of much more capacity than is in use reads no hole: in a tmpfs that
 * would allocate it, and be a signal where there is no room.
 */
#include "ashlar_heap.h"
#include "backend/region.h"
#include "heaps/instance.h"
#include "rt.h"
#include "store/file/store.h"
#include "syscall.h"

enum { BLOCKS = 3000 };
static const size_t capacity = (size_t)64 << 30;
static int fd;
static ash_heap *heap;
static void *block[BLOCKS], *large;

static int64_t held(void)
{
	struct arch_stat st;

	CHECK_EQ(arch_fstat(fd, &st), 0);
	return st.blocks;
}

static void make(void)
{
	unsigned i;

	fd = (int)arch_memfd_create("holes", 0);
	heap = NOT_NULL(ash_heap_create_file(fd, capacity, NULL));
	for (i = 0; i < BLOCKS; i++) {
		block[i] = i % 5 == 4 ? ash_heap_alloc_tagged(heap, 1 + i, (unsigned char)i)
				      : ash_heap_alloc(heap, 1 + i * 7 % 20000);
		CHECK(block[i] != NULL);
	}
	large = ash_heap_zalloc(heap, 1, 300 * MIB); /* of which nothing is written */
	CHECK(large != NULL);
	CHECK_EQ(ash_heap_bind(heap, "first", block[0]), ASH_SLOT_DONE);
	ash_heap_set_root(heap, large);
	for (i = 1; i < BLOCKS; i += 3)
		ash_heap_release(heap, block[i]);
}

static int seen(void *count, UNUSED const void *p, UNUSED size_t size, UNUSED const struct ash_heap_owner *owner)
{
	++*(size_t *)count;
	return 0;
}

static int seen_here(void *count, void *p, size_t size, const struct ash_heap_owner *owner)
{
	return seen(count, p, size, owner);
}

static int named(void *count, UNUSED const char *name, UNUSED const void *p)
{
	++*(size_t *)count;
	return 0;
}

TEST(holes_views_read_none, 20)
{
	size_t blocks = 0, names = 0, at;
	struct ash_block b;
	ash_heap_view *v;
	int64_t before;
	const char *p;

	make();
	before = held();
	v = NOT_NULL(ash_heap_view_file(fd, NULL));
	CHECK_EQ(ash_heap_view_walk(v, seen, &blocks), 0);
	CHECK_EQ(blocks, BLOCKS - BLOCKS / 3 + 1);
	CHECK_EQ(ash_heap_view_names(v, named, &names), 0);
	CHECK(names == 1 && ash_heap_view_bound(v, "first") == ash_heap_view_at(v, block[0]));
	p = ash_heap_view_root(v);
	CHECK(p == ash_heap_view_at(v, large));
	for (at = 0; at < 300 * MIB; at += MIB)
		CHECK(ash_heap_view_find(v, p + at, &b) == ASH_TAKEN && b.start == p && b.offset == at);
	for (at = 0; at < capacity; at += capacity / 1000)
		(void)ash_heap_view_find(v, p + at, &b);
	CHECK_EQ(held(), before);
	CHECK(ash_heap_view_check(v));
	CHECK_EQ(held(), before);
	ash_heap_view_close(v);
}

TEST(holes_looks_read_none, 20)
{
	struct ash_statistics st;
	size_t blocks = 0;
	int64_t before, most;

	make();
	CHECK_EQ(ash_heap_check(heap), 0);
	before = held();
	CHECK_EQ(ash_heap_check(heap), 0);
	ash_heap_stats(heap, &st);
	CHECK_EQ(ash_heap_walk(heap, seen_here, &blocks), 0);
	CHECK_EQ(blocks, BLOCKS - BLOCKS / 3 + 1);
	(void)ash_heap_recover(heap);
	CHECK_EQ(held(), before);
	(void)ash_heap_trim(heap, 0);
	CHECK(held() <= before);
	/* QEMU purges none.  Pages that were read and not written the kernel may take back, and an attach brings some 40 again. */
	most = rt_under_qemu() ? before : held();
	ash_heap_thread_detach(heap);
	ash_heap_destroy(heap);
	before = held();
	heap = NOT_NULL(ash_heap_attach_file(fd, NULL));
	rt_print("     %zu KiB, detached %zu, attached %zu\n", (size_t)most / 2, (size_t)before / 2, (size_t)held() / 2);
	CHECK(held() <= (before > most ? before : most) + 2 * (int64_t)(PAGE_MOST / 512)); /* an owner record, and an entry of the census */
}

/* A view of a file that was made shorter tells what is still there, without a signal. */
TEST(holes_view_of_a_cut_file, 10)
{
	static const size_t lengths[] = {64 * MIB, PAGE_MOST, 0};
	size_t blocks, i;
	struct ash_block b;
	ash_heap_view *v;

	for (i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
		make();
		v = NOT_NULL(ash_heap_view_file(fd, NULL));
		CHECK_EQ(arch_ftruncate(fd, (long)lengths[i]), 0);
		arch_close(fd); /* the view has its own */
		blocks = 0;
		CHECK_EQ(ash_heap_view_walk(v, seen, &blocks), 0);
		CHECK_EQ(ash_heap_view_names(v, named, &blocks), 0);
		CHECK(blocks <= (i == 0));
		CHECK(ash_heap_view_root(v) == (lengths[i] == 0 ? NULL : ash_heap_view_at(v, large)));
		CHECK(ash_heap_view_bound(v, "first") == NULL);
		CHECK_EQ(ash_heap_view_find(v, ash_heap_view_at(v, block[0]), &b), ASH_UNUSED);
		CHECK(!ash_heap_view_check(v));
		ash_heap_view_close(v);
	}
}

/* ---- records that no check of a file reads ---- */

static void forge(size_t at, uint64_t word)
{
	CHECK_EQ(arch_pwrite64(fd, &word, sizeof word, (long)at), sizeof word);
}

/* In a file of another program they may have anything: they are cleared before they are used. */
static void junk_is_cleared(bool allocated)
{
	const struct ash_heap_options options = {.allocate = allocated};
	enum { CHUNKS = 200 };
	const struct region *r;
	struct ash_block b;
	size_t i, k, at;
	char *p, *base;

	fd = (int)arch_memfd_create("junk", 0);
	heap = NOT_NULL(ash_heap_create_file(fd, CHUNKS * CHUNK_SIZE, allocated ? &options : NULL));
	base = (char *)store_of(heap_of(heap));
	r = region_first(heap_of(heap));
	for (i = 0; i < CHUNKS; i++) {
		at = (size_t)((char *)region_chunk(r, i) - base);
		forge(at + offsetof(struct chunk, kind), CHUNK_SLABS);
		forge(at + offsetof(struct chunk, base), (uintptr_t)r->base + (i << CHUNK_SHIFT));
		for (k = 0; k < CHUNK_UNITS; k += 2)
			forge(at + offsetof(struct chunk, head) + k * sizeof(uint32_t), ~UINT64_C(0) / 3);
	}
	ash_heap_destroy(heap);
	heap = NOT_NULL(ash_heap_attach_file(fd, NULL));
	CHECK(ash_heap_alloc(heap, 100) != NULL);
	for (i = 3; i <= 100; i += 97) {
		p = NOT_NULL(ash_heap_alloc(heap, i * CHUNK_SIZE - MIB));
		for (k = 0; k < i; k++)
			CHECK(ash_find(p + k * CHUNK_SIZE, &b) == ASH_TAKEN && b.start == p);
		CHECK(ash_heap_of(p + CHUNK_SIZE) == heap);
		CHECK(ash_heap_resize(heap, p, (i + 1) * CHUNK_SIZE) == p);
		CHECK(ash_find(p + i * CHUNK_SIZE, &b) == ASH_TAKEN && b.start == p);
	}
	CHECK_EQ(ash_heap_check(heap), 0);
}

TEST(holes_junk_is_cleared, 10)
{
	junk_is_cleared(false);
	junk_is_cleared(true);
}
