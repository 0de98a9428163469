/* SPDX-License-Identifier: MIT */
/* Heaps as objects: their counters, what each call leaves in the caller's record, their options. */
#include "heaps/instance.h"
#include "store/recover/benches.h"
#include "store/recover/seats.h"
#include "support/blocks.h"
#include "support/heap_in.h"
#include "thread/owner.h"

static void agree(ash_heap *heap)
{
	struct heap *h = heap_of(heap);
	struct ash_statistics st;

	ash_heap_stats(heap, &st);
	CHECK_EQ(st.dirty, h->dirty * UNIT_SIZE);
	peaks_hold(&st);
	if (h->sharing == PAGES_PRIVATE)
		CHECK_EQ(st.reserved, h->reserved * CHUNK_SIZE);
	for (struct owner *o = h->owners; o != NULL; o = o->next) {
		CHECK_EQ(truth_of(o)->flight, 0);
		CHECK_EQ(o->building & 1, 0);
	}
	CHECK_EQ(ash_heap_check(heap), 0);
}

static void work(ash_heap *heap)
{
	static char *p[300];
	size_t flights = 0;

	for (size_t i = 0; i < 300; i++) {
		p[i] = i % 3 == 0 ? ash_heap_zalloc(heap, 3, i * 7) : ash_heap_alloc(heap, i * 20);
		CHECK(p[i] != NULL);
		CHECK(ash_heap_usable_size(heap, p[i]) >= (i % 3 == 0 ? 21 * i : 20 * i));
	}
	agree(heap);
	for (size_t i = 0; i < 300; i += 2) {
		ash_heap_release(heap, p[i]);
		p[i] = ash_heap_aligned_alloc(heap, (size_t)16 << i % 12, i * 30);
		CHECK(p[i] != NULL && (uintptr_t)p[i] % ((size_t)16 << i % 12) == 0);
	}
	agree(heap);
	for (size_t i = 0; i < 300; i++)
		p[i] = NOT_NULL(ash_heap_resize(heap, p[i], i * 11 + 1));
	agree(heap);
	for (size_t i = 0; i < 300; i++)
		ash_heap_release_sized(heap, p[i], i * 11 + 1);
	agree(heap);
	/* Spans that grow and shrink, in place or by moving. */
	p[0] = ash_heap_alloc(heap, 3 * MIB);
	p[1] = ash_heap_zalloc(heap, 1, 2 * MIB);
	memset(p[0], 1, 3 * MIB);
	agree(heap);
	p[0] = ash_heap_resize(heap, p[0], 5 * MIB);
	CHECK(p[0] != NULL && p[0][3 * MIB - 1] == 1);
	agree(heap);
	p[1] = ash_heap_resize(heap, p[1], 5 * MIB);
	CHECK(p[1] != NULL && p[1][2 * MIB - 1] == 0);
	p[0] = ash_heap_resize(heap, p[0], 2 * MIB);
	agree(heap);
	/* No block is in flight. */
	if (heap_of(heap)->sharing == PAGES_SHARED) {
		CHECK_EQ(ash_heap_walk(heap, count_flight, &flights), 0);
		CHECK_EQ(flights, 0);
	}
	ash_heap_release(heap, p[0]);
	agree(heap);
	ash_heap_release(heap, p[1]);
	CHECK_EQ(ash_heap_trim(heap, 0) % 4096, 0);
	agree(heap);
}

TEST(inner_objects_private, 10)
{
	ash_heap *heap = ash_heap_create(NULL);

	for (unsigned i = 0; i < 3; i++)
		work(heap);
	CHECK(heap_of(heap)->settled == heap_default.settled || heap_of(heap)->settled == 0);
	ash_heap_destroy(heap);
}

TEST(inner_objects_shared, 10)
{
	ash_heap *heap = ash_heap_create_shared(32 * MIB, NULL);

	for (unsigned i = 0; i < 3; i++)
		work(heap);
	ash_heap_destroy(heap);
}

/* A full heap returns NULL, and has its whole capacity again when it is empty. */
TEST(inner_objects_full, 10)
{
	ash_heap *heap = ash_heap_create_shared(8 * MIB, NULL);
	static char *p[4096];
	size_t n;

	for (unsigned round = 0; round < 3; round++) {
		size_t size = round == 0 ? 200000 : round == 1 ? 30000 : 5000;

		for (n = 0; n < 4096 && (p[n] = ash_heap_alloc(heap, size)) != NULL; n++)
			;
		CHECK(n * size > 6 * MIB && n < 4096);
		agree(heap);
		while (n-- > 0)
			ash_heap_release(heap, p[n]);
		agree(heap);
		p[0] = NOT_NULL(ash_heap_alloc(heap, 8 * MIB));
		agree(heap);
		ash_heap_release(heap, p[0]);
	}
	ash_heap_destroy(heap);
}

TEST(inner_objects_options, 10)
{
	struct ash_heap_options none = {0}, some = {.huge = ASH_HUGE_NEVER, .retain = 3 * MIB, .cap = 7 * MIB};
	ash_heap *heap = ash_heap_create(&none);
	const struct ash_defaults *own;

	own = heap_of(heap)->options;
	CHECK(own->cap == 0 && own->retain == ash_defaults.retain && own->huge == ASH_HUGE_DEFAULT);
	ash_heap_destroy(heap);
	heap = ash_heap_create(&some);
	own = heap_of(heap)->options;
	CHECK(own->cap == 8 * MIB && own->retain == 3 * MIB && own->huge == ASH_HUGE_NEVER);
	ash_heap_destroy(heap);
	heap = ash_heap_create_shared(4 * MIB, &none);
	CHECK(heap != NULL && heap_of(heap)->options->cap == 4 * MIB);
	ash_heap_destroy(heap);
	heap = ash_heap_create_shared(4 * MIB, &some);
	CHECK(heap != NULL && heap_of(heap)->options->huge == ASH_HUGE_NEVER);
	ash_heap_destroy(heap);
}

/* The good size of an arena is the usable size of such a block. */
TEST(inner_objects_good_sizes, 10)
{
	static char memory[256 * 1024];
	ash_heap *heap = ash_heap_create_in(memory, sizeof memory);

	for (size_t size = 0; size < 300; size++) {
		void *p = NOT_NULL(ash_heap_alloc(heap, size));

		CHECK_EQ(ash_heap_good_size(heap, size), ash_heap_usable_size(heap, p));
		CHECK(ash_heap_good_size(heap, size) >= size && ash_heap_good_size(heap, size) < size + 17);
	}
	CHECK_EQ(ash_heap_check(heap), 0);
}

/* Benches of one kind come from one page until it is used up. */
TEST(inner_objects_benches, 10)
{
	struct bench *b[4];

	for (size_t i = 0; i < 4; i++) {
		b[i] = NOT_NULL(bench_take(0));
		CHECK_EQ((uintptr_t)b[i] / 4096, (uintptr_t)b[0] / 4096);
		for (size_t k = 0; k < i; k++)
			CHECK(b[k] != b[i]);
	}
	CHECK(bench_grow(b[1]));
	CHECK(b[1]->more[0] != NULL && b[1]->more[1] == NULL);
	b[1]->page->entry[0].id = 6;
	b[1]->more[0][3].id = 8;
	CHECK(bench_find(b[1], 8) == NULL || bench_find(b[1], 8) == &b[1]->more[0][3]);
	bench_leave(b[1]);
	CHECK(b[1]->page->entry[0].id == 0 && b[1]->more[0][3].id == 0);
	CHECK(bench_take(0) == b[1]); /* vacant benches that have a page are preferred */
}

/* A block that cannot grow in place gives back the granules that it took meanwhile. */
TEST(inner_objects_failed_growth, 10)
{
	static char memory[256 * 1024];
	ash_heap *heap = ash_heap_create_in(memory, sizeof memory);
	char *a = ash_heap_alloc(heap, 64), *gap = ash_heap_alloc(heap, 2000);
	char *b = ash_heap_alloc(heap, 64), *moved;

	CHECK(gap > a && b > gap);
	memset(a, 7, 64);
	ash_heap_release(heap, gap);
	CHECK(ash_heap_resize(heap, a, 300 * 1024) == NULL);
	CHECK(ash_heap_usable_size(heap, a) == 64 && a[63] == 7);
	moved = ash_heap_resize(heap, a, 3000);
	CHECK(moved != NULL && moved != a && moved[63] == 7);
	CHECK(ash_heap_alloc(heap, 2064) == (void *)a); /* all granules before b */
	CHECK_EQ(ash_heap_check(heap), 0);
}

/* A hole at the beginning is found, wherever the last search ended. */
TEST(inner_objects_first_place, 10)
{
	static char memory[64 * 1024];
	ash_heap *heap = ash_heap_create_in(memory, sizeof memory);
	char *first = ash_heap_alloc(heap, 64), *p;
	size_t n;

	for (n = 1; n < 300; n++)
		CHECK(ash_heap_alloc(heap, 64) != NULL);
	while ((p = ash_heap_alloc(heap, 16)) != NULL)
		n++;
	CHECK(n > 1000);
	ash_heap_release(heap, first);
	for (n = 0; n < 4; n++)
		CHECK(ash_heap_alloc(heap, 16) == first + 16 * n);
	CHECK(ash_heap_alloc(heap, 16) == NULL);
	CHECK_EQ(ash_heap_check(heap), 0);
}
