/* SPDX-License-Identifier: MIT */
/* Before the answer is NULL, empty slabs serve blocks above 1 MiB, and hints are set by the bitmaps. */
#include "backend/chunk.h"
#include "backend/units.h"
#include "heaps/instance.h"
#include "memory.h"
#include "process.h"
#include "slab/unowned.h"
#include "support/blocks.h"
#include "support/shared_heap.h"
#include "syscall.h"
#include "thread/seating.h"

enum { CAP = 16 * MIB, MAIN_SIZE = 1000 };

static const size_t sizes[] = {8, 100, 1000, 5000, 30000, 32768, 40000, 100000, 300000, MIB};
enum { SIZES = sizeof sizes / sizeof *sizes };

static struct ash_defaults limited;

static void limit(void)
{
	limited = ash_defaults;
	limited.cap = CAP;
	heap_default.options = &limited;
}

/* No slab is left, so the whole heap can be one block. */
static void is_one_block(void)
{
	char *p = NOT_NULL(ash_alloc(CAP));

	ash_release(p);
}

TEST(gather_own_empty_slabs, 20)
{
	char *p;

	limit();
	for (unsigned i = 0; i < SIZES; i++) {
		CHECK((p = ash_alloc(sizes[i])) != NULL);
		ash_release(p);
		seat.self->turn = 2 * CLASSES - 1; /* all lists are visited, not those behind the last turn's */
		is_one_block();
		CHECK((p = ash_alloc(sizes[i])) != NULL);
		ash_release(p);
		CHECK((p = ash_aligned_alloc(64 * KIB, CAP - 1)) != NULL);
		ash_release(p);
		CHECK((p = ash_alloc(sizes[i])) != NULL);
		ash_release(p);
		CHECK((p = ash_zalloc(CAP / 64, 64)) != NULL);
		ash_release(p);
		CHECK_EQ(ash_check(), 0);
	}
	CHECK(ash_alloc(CAP + 1) == NULL);
}

/* A span grows by moving: half of the heap is its own, of the other half the empty slab has a chunk. */
TEST(gather_for_a_span_that_grows, 20)
{
	char *p, *q;

	limit();
	CHECK((p = ash_alloc(100)) != NULL);
	CHECK((q = ash_alloc(3 * MIB)) != NULL);
	q[0] = 5;
	ash_release(p);
	CHECK((q = ash_resize(q, 12 * MIB)) != NULL);
	CHECK_EQ(q[0], 5);
	CHECK(ash_resize(q, CAP + 1) == NULL && q[0] == 5);
	ash_release(q);
	is_one_block();
}

static void leaves(UNUSED void *argument)
{
	for (unsigned i = 0; i < SIZES; i++)
		ash_release(ash_alloc(sizes[i]));
}

/* Leaves the thread's record vacant with slabs in its bins, as a thread that vanishes does: no event reports these slabs. */
static void vanishes_now(void)
{
	struct owner *o = seat_take();

	seat.self = owner_none;
	seat.record = NULL;
	owner_vacate(o);
}

static void vanishes(UNUSED void *argument)
{
	leaves(NULL);
	vanishes_now();
}

static void ends_without_a_word(UNUSED void *argument)
{
	leaves(NULL);
	(void)arch_exit(0); /* past the runtime's ash_thread_detach */
}

TEST(gather_vacant_and_unowned, 20)
{
	char *p;

	limit();
	rt_in_thread(leaves, NULL);
	is_one_block();
	CHECK((p = unowned_slot(&heap_default, class_of(100))) != NULL);
	ash_release(p);
	CHECK(heap_default.unowned_made != heap_default.unowned_gone);
	is_one_block();
	rt_in_thread(vanishes, NULL);
	is_one_block();
}

TEST(gather_of_ended_threads, 20)
{
	limit();
	ash_release(ash_alloc(1));
	rt_in_thread(ends_without_a_word, NULL);
	is_one_block();
}

/*
 * All that is found at last is a whole chunk, of records that are vacant with empty slabs: it is opened before the answer
 * is NULL.  Two threads have a slab in each of 32 classes, 64 units.
 */
static void fills_a_chunk(void *argument)
{
	unsigned class, n = 0;

	for (class = 1; n < CHUNK_UNITS / 2; class++)
		if (class != class_of(MAIN_SIZE)) {
			ash_release(NOT_NULL(ash_alloc(class_size(class))));
			n++;
		}
	if (argument != NULL)
		rt_in_thread(fills_a_chunk, NULL);
	vanishes_now();
}

TEST(gather_a_whole_chunk, 20)
{
	static char first;

	limit();
	while (stats_now().slabs < CHUNK_SIZE)
		CHECK(ash_alloc(MAIN_SIZE) != NULL);
	rt_in_thread(fills_a_chunk, &first);
	CHECK_EQ(stats_now().slabs, 2 * CHUNK_SIZE);
	while (ash_alloc(MAIN_SIZE) != NULL)
		;
	CHECK(ash_alloc(MAIN_SIZE) == NULL && ash_check() == 0);
	CHECK_EQ(stats_now().slabs, CAP);
}

/* A thread was stopped before it set the hints, or before it returned the chunk that it had opened. */
TEST(gather_sets_hints, 20)
{
	struct units u;

	limit();
	u = units_claim(&heap_default, CHUNK_UNITS, true, false);
	CHECK(u.chunk != NULL);
	while (ash_alloc(2 * MIB) != NULL)
		;
	u.chunk->units = bits_run(32, 32);
	region_room(u.chunk->region)[u.chunk->index] = 0;
	u.chunk->region->part = 0;
	CHECK(ash_alloc(MIB) != NULL);
	u.chunk->units |= bits_run(0, 32);
}

/* Of two threads that open a chunk each both may get units of the same one. */
static void open_for_nothing(struct heap *h)
{
	for (unsigned i = 0; i < 3; i++) {
		struct run run = region_claim(h, 1, 1, true);

		CHECK(run.region != NULL);
		chunk_open(h, run, false);
	}
}

TEST(gather_opened_chunk, 20)
{
	limit();
	ash_release(ash_alloc(100));
	open_for_nothing(&heap_default);
	is_one_block();
	CHECK_EQ(ash_check(), 0);
}

/* The same in heaps that the program made. */
TEST(gather_in_heaps, 30)
{
	struct ash_heap_options options = {.cap = CAP};
	char *p, *q;

	for (unsigned i = 0; i < SIZES; i++)
		for (unsigned shared = 0; shared < (has_shared_heaps() ? 2 : 1); shared++) {
			ash_heap *h = shared ? shared_heap(CAP) : ash_heap_create(&options);

			CHECK(h != NULL && (p = ash_heap_alloc(h, sizes[i])) != NULL);
			CHECK((q = ash_heap_alloc(h, 3 * MIB)) != NULL);
			q[0] = 5;
			ash_heap_release(h, p);
			CHECK((q = ash_heap_resize(h, q, 11 * MIB)) != NULL && q[0] == 5);
			ash_heap_release(h, q);
			CHECK((p = ash_heap_alloc(h, sizes[i])) != NULL);
			ash_heap_release(h, p);
			open_for_nothing(heap_of(h));
			CHECK((p = ash_heap_alloc(h, CAP)) != NULL);
			CHECK(ash_heap_alloc(h, 1) == NULL);
			ash_heap_release(h, p);
			CHECK_EQ(ash_heap_check(h), 0);
			ash_heap_destroy(h);
		}
}

/* Hints of a file that are too low, all of them: no unit is lost. */
TEST(gather_in_a_file_of_wrong_hints, 30)
{
	ash_heap *h = shared_heap(CAP);
	struct region *r = heap_of(h)->regions;
	size_t n, all = CAP / UNIT_SIZE;

	for (unsigned round = 0; round < 2; round++) {
		char *p, *first = NULL;

		for (n = 0; (p = ash_heap_alloc(h, UNIT_SIZE)) != NULL; n++) {
			*(char **)(void *)p = first;
			first = p;
		}
		CHECK_EQ(n, all);
		for (n = 0; first != NULL; first = p, n++) {
			p = *(char **)(void *)first;
			if (n % 64 != 5) /* no chunk is returned */
				ash_heap_release(h, first);
		}
		all -= (n - 5 + 63) / 64;
		(void)ash_heap_trim(h, SIZE_MAX);
		memset(r->room, 0, r->chunks);
		r->part = 0;
	}
	for (n = 0; ash_heap_alloc(h, UNIT_SIZE) != NULL; n++)
		;
	CHECK_EQ(n, all);
	CHECK_EQ(ash_heap_check(h), 0);
}

/* Free slots of a vacant record's slab, at which the search for one to adopt has been lately. */
static char *left;

static void leave_one(UNUSED void *argument)
{
	CHECK((left = ash_alloc(5000)) != NULL);
}

TEST(gather_slots_of_a_vacant_record, 20)
{
	char *p;

	limit();
	CHECK(ash_alloc(10) != NULL); /* a record of our own */
	rt_in_thread(leave_one, NULL);
	while (ash_alloc(8 * UNIT_SIZE) != NULL)
		;
	while (ash_alloc(UNIT_SIZE) != NULL)
		;
	CHECK(heap_default.owners->next == seat.self && seat.self->next == NULL);
	heap_default.adopt_next = seat.self;
	p = ash_alloc(5000);
	CHECK(p != NULL && slab_record(map_find(p), p) == slab_record(map_find(left), left));
	CHECK_EQ(ash_check(), 0);
}

/* A thread that ends leaves no empty slab, be it current or spare, of any class. */
static void use_and_end(void *argument)
{
	static void *p[2000];
	size_t i, n = 64 * KIB / *(size_t *)argument;

	for (i = 0; i < n && i < 2000; i++)
		CHECK((p[i] = ash_alloc(*(size_t *)argument)) != NULL);
	while (i-- > 0)
		ash_release(p[i]);
}

TEST(gather_not_what_threads_leave, 20)
{
	for (unsigned i = 0; i < SIZES; i++) {
		rt_in_thread(use_and_end, (void *)(uintptr_t)&sizes[i]);
		CHECK_EQ(stats_now().slabs, 0);
	}
}
