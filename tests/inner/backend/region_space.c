/* SPDX-License-Identifier: MIT */
/* Address space: taken, cut, extended and shrunk, byte for byte; counted chunks are mapped chunks. */
#include "ashlar_heap.h"
#include "backend/map.h"
#include "backend/region.h"
#include "heaps/instance.h"
#include "kernel.h"
#include "pages.h"
#include "support/handler_at_step.h"
#include "support/shared_heap.h"
#include "syscall.h"

#define GIB	  ((size_t)1 << 30)
#define CHUNKS(n) ((n) * CHUNK_SIZE)

static struct heap *const d = &heap_default;

/* The region has just so many bytes: mapped, in the map, and counted. */
static void ends_at(struct region *r, size_t bytes)
{
	CHECK(region_bytes(r) == bytes && r->state == REGION_LIVE);
	CHECK_EQ(r->heap->reserved, (bytes + CHUNK_SIZE - 1) / CHUNK_SIZE);
	CHECK(pages_mapped(r->base + bytes - 1));
	CHECK(map_around(r->base + bytes - 1) == region_chunk(r, r->chunks - 1));
	CHECK(map_guess(r->base) == region_chunk(r, 0));
	/* Elsewhere pages are not told apart under an emulator. */
	CHECK(rt_under_qemu() || !pages_mapped(r->base + bytes));
	CHECK(map_around(r->base + bytes) == NULL && map_around(r->base + bytes + CHUNK_SIZE) == NULL);
}

/* The free end of a region is cut off, and then all of it; nothing of it stays counted. */
TEST(space_is_cut, 10)
{
	char *p = ash_alloc(CHUNKS(20)), *q = ash_alloc(CHUNKS(10));
	struct region *r = region_of(d, p);

	CHECK(r != NULL && r == region_of(d, q) && r->chunks == 30);
	CHECK(region_of(d, r->base + CHUNKS(30) - 1) == r && region_of(d, r->base + CHUNKS(30)) != r);
	memset(p, 1, CHUNKS(20));
	memset(q, 1, CHUNKS(10));
	d->floor = 100000; /* released memory stays */
	CHECK_EQ(region_cut(d, r), 0);
	ash_release(q);
	CHECK_EQ(d->dirty, 10 * CHUNK_UNITS);
	CHECK_EQ(region_trim(d, false), 0);
	CHECK_EQ(r->chunks, 30);
	CHECK_EQ(region_cut(d, r), CHUNKS(10));
	CHECK_EQ(d->dirty, 0);
	ends_at(r, CHUNKS(20));
	CHECK_EQ(region_cut(d, r), 0);
	CHECK_EQ(ash_check(), 0);
	ash_release(p);
	CHECK_EQ(region_trim(d, false), CHUNKS(20));
	CHECK(d->dirty == 0 && d->reserved == 0 && d->borders == 0);
	CHECK(r->state == REGION_VACANT && r->chunks == 0 && r->base == NULL && map_guess(p) == NULL);
	CHECK_EQ(region_trim(d, true), 0);
	/* Its record serves again, and all is zero there. */
	p = ash_zalloc(1, CHUNKS(30));
	for (size_t i = 0; i < CHUNKS(30); i += PAGE_LEAST)
		CHECK_EQ(p[i], 0);
	CHECK_EQ(ash_check(), 0);
}

/* The first chunk alone is a region as well: only a call that cuts ends leaves it. */
static void cut_to_one_chunk(enum advice advice)
{
	struct run run = region_claim(d, 3, 2, false);
	struct region *r = run.region;

	CHECK(r != NULL && r->chunks == 4 && run.first == 0);
	region_advised(run, 1, advice);
	CHECK_EQ(d->borders, advice != ADVICE_NONE);
	region_give((struct run){r, 1}, 2, LEFT_CLEAN);
	CHECK_EQ(region_trim(d, false), 0);
	CHECK_EQ(region_trim(d, true), CHUNKS(3));
	CHECK_EQ(d->borders, 0);
	ends_at(r, CHUNK_SIZE);
	region_give(run, 1, LEFT_CLEAN);
	CHECK_EQ(region_trim(d, false), CHUNK_SIZE);
	CHECK(d->reserved == 0 && d->borders == 0);
}

/* Whatever advice it has: where memory behind it was, there is no border of advice any more. */
TEST(space_is_cut_to_one_chunk, 10)
{
	cut_to_one_chunk(ADVICE_NONE);
	cut_to_one_chunk(ADVICE_PLAIN);
	cut_to_one_chunk(ADVICE_NONE);
}

static struct region *checked;

DOES(do_cut, CHECK_EQ(region_cut(d, checked), CHUNKS(10)));
DOES(act_check, CHECK_EQ(ash_check(), 0));

/* At no moment the heap seems broken: chunks that were spans, and go. */
TEST(space_is_checked_while_it_is_cut, 10)
{
	void *p = NOT_NULL(ash_alloc(CHUNKS(20))), *end[10];

	for (size_t i = 0; i < 10; i++)
		end[i] = NOT_NULL(ash_alloc(CHUNK_SIZE));
	checked = region_of(d, end[9]);
	for (size_t i = 0; i < 10; i++)
		ash_release(end[i]);
	CHECK(checked == region_of(d, p) && checked->chunks == 30);
	step_begin(act_check);
	act_again = 1;
	CHECK(with_act_at(0, do_cut));
	ends_at(checked, CHUNKS(20));
}

/* A span's own region, with addresses behind it that nothing has. */
static struct region *alone(struct heap *h, size_t bytes, size_t room)
{
	struct region_plan plan = {(bytes + room) / CHUNK_SIZE, 1, (bytes + room) / CHUNK_SIZE, false, bytes + room};
	struct region *r = region_create(h, &plan);

	if (r == NULL)
		rt_skip("this kernel has no addresses for it");
	/* Before its span is set, as for each reader of the map. */
	CHECK(map_around(r->base + GIB) == region_chunk(r, 0));
	CHECK(room == 0 || region_shrink(r, bytes));
	return r;
}

static struct heap *sparse_heap(size_t cap)
{
	const struct ash_heap_options options = {.sparse = true, .cap = cap};

	return heap_of(NOT_NULL(ash_heap_create(&options)));
}

TEST(space_of_a_span_is_extended_and_shrunk, 10)
{
	static const size_t more[] = {CHUNK_SIZE, PAGE_MOST, CHUNK_SIZE - PAGE_MOST, GIB, GIB / 2 + PAGE_MOST};
	struct heap *h = sparse_heap(0);
	struct region *r = alone(h, GIB, 3 * GIB);
	size_t bytes = GIB;
	char *taken;

	ends_at(r, GIB);
	for (size_t i = 0; i < sizeof more / sizeof *more; i++) {
		bytes += more[i];
		CHECK(region_extend(r, bytes));
		ends_at(r, bytes);
	}
	bytes -= GIB;
	CHECK(region_shrink(r, bytes));
	ends_at(r, bytes);
	/* Somebody else is behind it: then it stays as it is. */
	taken = r->base + bytes + GIB;
	CHECK_EQ(arch_mmap(taken, CHUNK_SIZE, 0, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), (long)taken);
	CHECK(!region_extend(r, bytes + GIB + CHUNK_SIZE));
	ends_at(r, bytes);
	/* In the map it has few entries, the farther behind its beginning the fewer. */
	CHECK(region_shrink(r, CHUNK_SIZE));
	for (size_t at = 1; at <= 4 * GIB / CHUNK_SIZE; at++)
		CHECK(map_guess(r->base + CHUNKS(at)) == NULL);
	region_unmap(r);
}

TEST(space_of_usual_regions_is_neither, 10)
{
	char *p = ash_alloc(CHUNKS(20));
	struct region *r = region_of(d, p);
	size_t bytes = region_bytes(r), reserved = d->reserved;

	CHECK(!region_extend(r, bytes + CHUNK_SIZE) && !region_shrink(r, bytes - CHUNK_SIZE));
	CHECK(region_bytes(r) == bytes && d->reserved == reserved && pages_mapped(r->base + bytes - 1));
	ash_release(p);
}

/* The cap holds for regions that are extended, too. */
TEST(space_stays_within_the_cap, 10)
{
	struct heap *h = sparse_heap(3 * GIB);
	struct region *r = alone(h, GIB, 2 * GIB - CHUNK_SIZE);

	CHECK(!region_extend(r, 3 * GIB + PAGE_MOST));
	ends_at(r, GIB);
	CHECK(region_extend(r, 3 * GIB - CHUNK_SIZE));
	CHECK(region_shrink(r, GIB));
	ends_at(r, GIB);
}

/* However many spans had regions of their own, that count is of those that there are. */
TEST(space_forgets_regions_that_went, 20)
{
	enum { HEAPS = 17, SPANS = 1000 };
	struct region_plan usual = {1, 1, 0, false, 0};
	const struct ash_heap_options sparse = {.sparse = true};
	static void *p[SPANS];

	if (rt_under_qemu())
		rt_skip("QEMU 7.2 keeps a record of each page that is mapped");
	for (size_t i = 0; i <= ALONE_MOST; i++)
		CHECK(region_create(d, &usual) != NULL && region_trim(d, false) == CHUNK_SIZE);
	CHECK(region_is_exact());
	p[0] = NOT_NULL(ash_heap_create(NULL));
	CHECK(ash_heap_alloc(p[0], MIB) != NULL);
	ash_heap_destroy(p[0]);
	CHECK(region_is_exact()); /* that heap's regions were of no single span */
	for (size_t i = 0; i < HEAPS; i++) {
		ash_heap *heap = NOT_NULL(ash_heap_create(&sparse));

		for (size_t k = 0; k < SPANS; k++)
			if ((p[k] = ash_heap_alloc(heap, GIB)) == NULL)
				rt_skip("this kernel has no addresses for it");
		for (size_t k = 0; k < SPANS; k += 2)
			ash_heap_release(heap, p[k]);
		ash_heap_destroy(heap);
	}
	CHECK(region_is_exact());
}

/* A span that is no multiple of a chunk comes where the last one was, and needs no more leaves of the map. */
TEST(space_is_found_again, 10)
{
	enum { ROUNDS = 80, PART = 16 }; /* a leaf has 16 GiB */
	const struct ash_heap_options sparse = {.sparse = true};
	ash_heap *heap = NOT_NULL(ash_heap_create(&sparse));
	size_t leaves[2] = {0, 0};

	for (size_t i = 0; i < (rt_under_qemu() ? 3 : ROUNDS); i++) {
		void *p = ash_heap_alloc(heap, GIB + PAGE_MOST + i % 3 * MIB);

		if (p == NULL)
			rt_skip("this kernel has no addresses for it");
		ash_heap_release(heap, p);
		if (i != PART && i != ROUNDS - 1)
			continue;
		for (size_t at = 0; at < MAP_ROOT; at++)
			leaves[i != PART] += chunk_map.root[at] != NULL;
	}
	CHECK(leaves[1] <= leaves[0] + 1);
	ash_heap_destroy(heap);
}

/* Whether a request that failed could be had once free memory is given back, under a limit of 64 MiB. */
TEST(space_hope_under_a_limit, 10)
{
	static struct ash_defaults options;
	static struct heap h = {.options = &options, .sharing = PAGES_PRIVATE, .reserved = 16};
	struct region_plan plan = {100, 1, 100, false, 0};
	size_t space;

	if (rt_under_qemu() || !rt_limit_address_space(rt_address_space() + 64 * MIB))
		rt_skip("a limit of addresses has no effect under QEMU");
	CHECK(region_may_help(&h, 32 * MIB));
	CHECK(!region_may_help(&h, 48 * MIB)); /* there is room: something else is wrong */
	CHECK(region_may_help(&h, 80 * MIB));
	CHECK(!region_may_help(&h, 100 * MIB));
	options.cap = 1;
	CHECK(region_may_help(&h, 100 * MIB));
	options.cap = 0;
	h.sharing = PAGES_SHARED;
	CHECK(region_may_help(&h, 100 * MIB));
	h.sharing = PAGES_PRIVATE;
	/* A refused request leaves nothing, and notes that addresses are short. */
	space = rt_address_space();
	CHECK(!region_short() && region_create(&h, &plan) == NULL && region_short());
	CHECK(h.reserved == 16 && rt_address_space() == space && h.regions == NULL);
}

/* Memory that processes share stays as it is mapped. */
TEST(space_of_shared_heaps_stays, 10)
{
	ash_heap *heap = shared_heap(8 * MIB);

	CHECK_EQ(region_trim(heap_of(heap), true), 0);
	CHECK_EQ(region_cut(heap_of(heap), heap_of(heap)->regions), 0);
	CHECK(ash_heap_alloc(heap, MIB) != NULL);
	CHECK_EQ(ash_heap_check(heap), 0);
	ash_heap_destroy(heap);
}
