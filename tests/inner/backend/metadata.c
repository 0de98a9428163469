/* SPDX-License-Identifier: MIT */
/* The records of regions: they lie apart, their maker holds them, and they go with their heap. */
/* promises: ash_heap_destroy */
#include "ashlar_heap.h"
#include "backend/map.h"
#include "backend/region.h"
#include "heaps/instance.h"
#include "rt.h"

extern char ash_first_metadata[];

/* The parts of a record follow each other; each has the bytes that its chunks need. */
static void parts_fit(const struct region *r)
{
	const size_t n = r->capacity;
	const char *const part[] = {(const char *)(r + 1),	    (const char *)r->free,
				    (const char *)r->clean,	    (const char *)r->known,
				    (const char *)r->room,	    (const char *)r->advice,
				    r->records,			    r->remote != NULL ? r->remote : r->records,
				    (const char *)r + r->metadata};
	const size_t bytes[] = {0,
				bits_words(n) * 8,
				bits_words(n) * 8,
				bits_words(n) * 8,
				n,
				n,
				r->remote != NULL ? n * r->stride : 0,
				r->remote != NULL ? n * CHUNK_UNITS * r->remote_stride : n * r->stride};

	for (size_t i = 0; i < sizeof bytes / sizeof *bytes; i++)
		CHECK(part[i] + bytes[i] <= part[i + 1]);
	CHECK(r->part_words * ROOM_PARTS >= ROOM_WORDS(n));
	CHECK_EQ((uintptr_t)r->records % CPU_LINE, 0);
}

TEST(inner_records_lie_apart, 10)
{
	static const size_t chunks[] = {1, 2, 63, 64, 65, 500, 3000};
	ash_heap *heap = ash_heap_create(NULL);
	struct heap *h = heap_of(heap);
	struct region *r, *other;
	size_t shared = 0, at, fit = 1;

	CHECK(heap != NULL);
	for (size_t i = 0; i < 2 * sizeof chunks / sizeof *chunks; i++) {
		r = metadata_make(h, chunks[i / 2], i % 2 != 0);
		/* No other thread may take it, in this process or another one. */
		CHECK(r != NULL && r->heap == h && r->state == REGION_CLAIMED);
		CHECK(r->capacity == chunks[i / 2] && (r->remote != NULL) == (i % 2 != 0));
		CHECK_EQ(region_alone(r), 0);
		CHECK(r->metadata <= metadata_bytes(r->capacity, i % 2 != 0, REMOTE_STRIDE));
	}
	for (r = region_first(h); r != NULL; r = region_next(r)) {
		parts_fit(r);
		shared += r->state == REGION_VACANT;
		for (other = region_next(r); other != NULL; other = region_next(other))
			CHECK((char *)r + r->metadata <= (char *)other || (char *)other + other->metadata <= (char *)r);
	}
	/* The newest one is no other's neighbour. */
	for (r = region_first(h); region_next(r) != NULL; r = region_next(r))
		CHECK(region_metadata_holds(h, (char *)r + r->metadata - 1));
	CHECK(region_metadata_holds(h, r) && region_metadata_holds(h, (char *)r + r->metadata - 1));
	CHECK(!region_metadata_holds(h, (char *)r + r->metadata));
	/*
	 * Of one chunk for spans a page has as many as fit; seven, where it has 4 KiB.  None but the first is at the
	 * beginning of a smaller page: that one's memory is unmapped with its heap.
	 */
	r = region_first(h);
	for (at = r->metadata; at + r->metadata <= PAGE_MOST; at += r->metadata)
		fit += at % PAGE_LEAST != 0;
	CHECK_EQ(shared + 1, fit);
	CHECK(PAGE_MOST / r->metadata >= 6);
	for (; shared > 0; shared--)
		CHECK((char *)metadata_make(h, 1, false) < (char *)r + PAGE_MOST);
	ash_heap_destroy(heap);
}

/* Records in the program's own memory serve the default heap, whichever heap is used first: they never go. */
TEST(inner_records_first_are_the_default_heaps, 10)
{
	ash_heap *heap = NOT_NULL(ash_heap_create(NULL));

	CHECK(ash_heap_alloc(heap, 100) != NULL && ash_alloc(100) != NULL);
	CHECK((char *)region_first(&heap_default) == ash_first_metadata);
	ash_heap_destroy(heap);
}

/* Regions of each kind, and of several sizes. */
static void work_in(ash_heap *heap)
{
	static const size_t bytes[] = {100, 40000, MIB, 3 * MIB, 40 * MIB, (size_t)1 << 30, ((size_t)1 << 30) + 6 * MIB};

	for (size_t i = 0; i < sizeof bytes / sizeof *bytes; i++) {
		char *p = ash_heap_alloc(heap, bytes[i]);

		CHECK(p != NULL);
		p[0] = 1;
	}
}

/* All is unmapped with the heap: less than a page of each stays. */
TEST(inner_records_go_with_their_heap, 20)
{
	enum { ROUNDS = 100, FIRST = 4 };
	const struct ash_heap_options sparse = {.sparse = true};
	size_t mappings = 0, space = 0;

	/* Under QEMU, whose own mappings come and go, a few: nothing is to die. */
	for (size_t i = 0; i < (rt_under_qemu() ? FIRST : ROUNDS); i++) {
		ash_heap *heap = NOT_NULL(ash_heap_create(&sparse));

		work_in(heap);
		CHECK_EQ(ash_heap_check(heap), 0);
		ash_heap_destroy(heap);
		if (i == FIRST - 1) { /* seats, marks, leaves of the map */
			mappings = rt_mappings();
			space = rt_address_space();
		}
	}
	if (rt_under_qemu())
		return;
	CHECK(rt_mappings() < mappings + (ROUNDS - FIRST) / 4);
	/* A leaf more, or two, where the system places the last ones elsewhere. */
	CHECK(rt_address_space() < space + (ROUNDS - FIRST) * PAGE_LEAST);
	CHECK_EQ(ash_check(), 0);
}

/* The first address beyond has no entry, whatever lies behind the map. */
TEST(metadata_map_ends_with_the_addresses, 10)
{
	uint64_t *volatile behind = (uint64_t *)(void *)&chunk_map.root[MAP_ROOT], was = *behind;
	const struct chunk *none;

	*behind = 1; /* no leaf is there */
	none = map_find((void *)((uintptr_t)1 << CPU_ADDRESS_BITS));
	*behind = was;
	CHECK(none == NULL && map_find((void *)UINTPTR_MAX) == NULL);
}
