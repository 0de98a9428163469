/* SPDX-License-Identifier: MIT */
/* Heaps as objects: their counters, what each call leaves in the caller's record, their options. */
#include "heaps/instance.h"
#include "heaps/seats.h"
#include "support/blocks.h"
#include "support/handler_at_step.h"
#include "support/heap_in.h"
#include "support/shared_heap.h"
#include "support/stamp.h"
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
		CHECK_EQ(o->building & 1, 0);
	}
	CHECK_EQ(ash_heap_check(heap), 0);
}

static void work(ash_heap *heap)
{
	static char *p[300];
	size_t flights = 0;

	for (size_t i = 0; i < 300; i++) {
		p[i] = NOT_NULL(i % 3 == 0 ? ash_heap_zalloc(heap, 3, i * 7) : ash_heap_alloc(heap, i * 20));
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

TEST(inner_objects_private_and_shared, 10)
{
	ash_heap *heap = ash_heap_create(NULL);

	for (unsigned i = 0; i < 3; i++)
		work(heap);
	CHECK(heap_of(heap)->settled == heap_default.settled || heap_of(heap)->settled == 0);
	ash_heap_destroy(heap);
	heap = shared_heap(32 * MIB);
	for (unsigned i = 0; i < 3; i++)
		work(heap);
	ash_heap_destroy(heap);
}

/* The end of the capacity: NULL, and all of it is there again when the heap is empty. */
TEST(shared_exhausted, 60)
{
	enum { MOST = 4000 };
	static uint64_t stamp[MOST];
	ash_heap *h = shared_heap((size_t)16 << 20);
	unsigned n, i, round;
	void *p;

	CHECK(ash_heap_alloc(h, (size_t)17 << 20) == NULL);
	for (round = 0; round < 6; round++) {
		static const size_t sizes[6] = {9000, 144000, 4 << 20, 200000, 30000, 5000};
		size_t size = sizes[round];

		for (n = 0; n < MOST && (p = ash_heap_alloc(h, size)) != NULL; n++)
			stamp[n] = stamp_set(p, size, n);
		CHECK(n < MOST && n > ((size_t)12 << 20) / size);
		CHECK(ash_heap_zalloc(h, 1, size) == NULL);
		CHECK(ash_heap_resize(h, stamp_block(stamp[0]), size * 3) == NULL);
		agree(h);
		for (i = 0; i < n; i++) {
			stamp_check(stamp[i]);
			ash_heap_release(h, stamp_block(stamp[i]));
		}
		agree(h);
		if (round % 2 == 0)
			(void)ash_heap_trim(h, 0);
		CHECK_EQ(stats_of(h).blocks, 0);
		p = NOT_NULL(ash_heap_alloc(h, (size_t)16 << 20)); /* all of it is one again */
		agree(h);
		ash_heap_release(h, p);
	}
	ash_heap_destroy(h);
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
	if (!has_shared_heaps())
		return;
	heap = ash_heap_create_shared(4 * MIB, &none);
	CHECK(heap != NULL && heap_of(heap)->options->cap == 4 * MIB);
	ash_heap_destroy(heap);
	heap = ash_heap_create_shared(4 * MIB, &some);
	CHECK(heap != NULL && heap_of(heap)->options->huge == ASH_HUGE_NEVER);
	ash_heap_destroy(heap);
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

/* ---- a slot of a larger class ---- */

static ash_heap *small_heap;
static struct owner *mine;
static struct slab *has_room;

/* A thread that takes the record over follows its lists if nothing is being changed: the slab must be found there. */
static void room_is_found(void)
{
	struct slab *s = mine->bins[has_room->class].partial.head;

	while (s != NULL && s != has_room)
		s = s->next;
	CHECK((mine->building & 1) != 0 || !slab_is_ready(has_room) || bin_has(mine, has_room) || s == has_room);
}

DOES(takes_a_larger_slot, CHECK(ash_heap_alloc(small_heap, 3000) != NULL));

TEST(larger_slot_changes_lists_while_it_builds, 20)
{
	const struct ash_heap_options options = {.cap = 2 * MIB};
	static char *p[1000];
	size_t n = 0;

	small_heap = NOT_NULL(ash_heap_create(&options));
	while ((p[n] = ash_heap_alloc(small_heap, 5000)) != NULL)
		n++;
	while (ash_heap_alloc(small_heap, 3000) != NULL)
		;
	mine = NOT_NULL(seats_self(heap_of(small_heap)));
	has_room = slab_record(map_find(p[0]), p[0]);
	for (size_t i = 0; i < 3; i++) {
		CHECK(slab_record(map_find(p[i]), p[i]) == has_room);
		ash_heap_release(small_heap, p[i]);
	}
	step_begin(room_is_found);
	act_again = 1;
	CHECK(with_act_at(0, takes_a_larger_slot));
	CHECK(slab_is_ready(has_room) && acted > 100);
	CHECK_EQ(ash_heap_check(small_heap), 0);
}
