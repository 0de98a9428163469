/* SPDX-License-Identifier: MIT */
/* The advice about huge pages, chunk by chunk, and the number of mappings that it makes. */
#include "ashlar_heap.h"
#include "backend/map.h"
#include "backend/region.h"
#include "heaps/instance.h"
#include "pages.h"
#include "rt.h"

static struct run run_of_span(const void *p, size_t chunk)
{
	const struct chunk *c = map_find(p);
	struct run run = {c->region, c->index + chunk};

	return run;
}

static enum advice advice_of(const void *p, size_t chunk)
{
	struct run run = run_of_span(p, chunk);

	return run.region->advice[run.first] & ~ADVICE_FLAGS;
}

static bool is_sparse(const void *p)
{
	struct run run = run_of_span(p, 0);

	return (run.region->advice[run.first] & ADVICE_SPARSE) != 0;
}

/* A span that has a region of its own, all of it advised. */
static char *advised(size_t chunks)
{
	char *p = ash_alloc(chunks * CHUNK_SIZE);

	CHECK(p != NULL && map_find(p)->index == 0);
	/* Asked of the kernel: a heap that gives no advice is no reason to skip. */
	if (PAGE_SIZE > PAGE_LEAST || !pages_huge(p, chunks * CHUNK_SIZE, true))
		rt_skip("the kernel takes no advice here");
	CHECK_EQ(advice_of(p, 0), ADVICE_HUGE);
	CHECK_EQ(advice_of(p, chunks - 1), ADVICE_HUGE);
	CHECK_EQ(heap_default.borders, 1);
	return p;
}

static void advise(const void *p, size_t chunk, size_t n, enum advice advice)
{
	region_advise(run_of_span(p, chunk), n, advice);
}

TEST(inner_advice_has_a_limit, 10)
{
	char *p = advised(250);
	size_t k;

	/* Each span adds two borders. */
	for (k = 0; k < 49; k++) {
		advise(p, 2 * k + 1, 1, ADVICE_PLAIN);
		CHECK_EQ(heap_default.borders, 3 + 2 * k);
	}
	advise(p, 2 * k + 1, 1, ADVICE_PLAIN);
	CHECK_EQ(heap_default.borders, HUGE_BORDERS - 1);
	CHECK_EQ(advice_of(p, 2 * k + 1), ADVICE_HUGE);
	/* One more border at the end of the span, the last that is allowed. */
	advise(p, 249, 1, ADVICE_PLAIN);
	CHECK_EQ(heap_default.borders, HUGE_BORDERS);
	advise(p, 240, 1, ADVICE_PLAIN);
	CHECK_EQ(advice_of(p, 240), ADVICE_HUGE);
	CHECK_EQ(heap_default.borders, HUGE_BORDERS);
	/* At the beginning of the region one border goes and one comes. */
	advise(p, 0, 1, ADVICE_PLAIN);
	CHECK_EQ(heap_default.borders, HUGE_BORDERS - 1);
	CHECK_EQ(advice_of(p, 0), ADVICE_PLAIN);
	advise(p, 0, 1, ADVICE_HUGE);
	CHECK_EQ(heap_default.borders, HUGE_BORDERS);
	/* Advice that only moves or removes borders is always given. */
	advise(p, 2 * 48 + 2, 1, ADVICE_PLAIN);
	CHECK(advice_of(p, 2 * 48 + 2) == ADVICE_PLAIN && heap_default.borders == HUGE_BORDERS);
	advise(p, 2 * 48 + 2, 1, ADVICE_HUGE);
	CHECK(advice_of(p, 2 * 48 + 2) == ADVICE_HUGE && heap_default.borders == HUGE_BORDERS);
	advise(p, 2, 1, ADVICE_PLAIN);
	CHECK_EQ(heap_default.borders, HUGE_BORDERS - 2);
	advise(p, 4, 1, ADVICE_PLAIN);
	CHECK_EQ(heap_default.borders, HUGE_BORDERS - 4);
	advise(p, 200, 2, ADVICE_PLAIN);
	CHECK_EQ(heap_default.borders, HUGE_BORDERS - 2);
	advise(p, 0, 250, ADVICE_HUGE);
	CHECK_EQ(heap_default.borders, 1);
	/* The region's last chunk has no border behind it. */
	k = map_find(p)->region->chunks - 1;
	advise(p, k, 1, ADVICE_HUGE);
	CHECK_EQ(heap_default.borders, 2);
	ash_release(p);
	(void)ash_trim(0);
	CHECK_EQ(heap_default.borders, 0);
}

/* The last chunk of a region makes one border and not two. */
TEST(inner_advice_at_the_regions_end, 10)
{
	char *p = advised(250);
	size_t k, last = map_find(p)->region->chunks - 1;

	for (k = 0; k < 49; k++)
		advise(p, 2 * k + 1, 1, ADVICE_PLAIN);
	CHECK_EQ(heap_default.borders, HUGE_BORDERS - 1);
	advise(p, last - 1, 1, ADVICE_HUGE);
	CHECK_EQ(heap_default.borders, HUGE_BORDERS - 1);
	advise(p, last, 1, ADVICE_HUGE);
	CHECK_EQ(advice_of(p, last), ADVICE_HUGE);
	CHECK_EQ(heap_default.borders, HUGE_BORDERS);
}

/* Its first chunk makes one border, the second one two. */
TEST(inner_advice_at_the_regions_beginning, 10)
{
	char *p = advised(250);

	for (size_t k = 0; k < 49; k++)
		advise(p, 2 * k + 3, 1, ADVICE_PLAIN);
	CHECK_EQ(heap_default.borders, HUGE_BORDERS - 1);
	advise(p, 1, 1, ADVICE_PLAIN);
	CHECK(advice_of(p, 1) == ADVICE_HUGE && heap_default.borders == HUGE_BORDERS - 1);
	advise(p, 0, 1, ADVICE_PLAIN);
	CHECK(advice_of(p, 0) == ADVICE_PLAIN && heap_default.borders == HUGE_BORDERS);
}

/* Addresses that are lost are so wherever they are in the region, and nowhere behind it. */
TEST(inner_advice_of_lost_addresses, 10)
{
	static uint8_t advice[9];
	struct region r = {.chunks = 8, .advice = advice};

	for (size_t i = 0; i < sizeof advice; i++) {
		CHECK(!region_is_lost(&r));
		advice[i] = ADVICE_LOST | ADVICE_HEAD;
		CHECK_EQ(region_is_lost(&r), i < 8);
		advice[i] = ADVICE_HUGE;
	}
}

TEST(inner_advice_of_none, 10)
{
	char *p = advised(100);

	/*
	 * ADVICE_NONE replaces the advice of an earlier block, and leaves chunks without advice as
	 * they are.
	 */
	advise(p, 10, 2, ADVICE_PLAIN);
	advise(p, 10, 2, ADVICE_NONE);
	CHECK(advice_of(p, 10) == ADVICE_PLAIN && advice_of(p, 11) == ADVICE_PLAIN);
	advise(p, 11, 2, ADVICE_NONE);
	CHECK(advice_of(p, 11) == ADVICE_PLAIN && advice_of(p, 12) == ADVICE_PLAIN);
	advise(p, 100, 2, ADVICE_NONE);
	CHECK(advice_of(p, 100) == ADVICE_NONE && advice_of(p, 101) == ADVICE_NONE);
	advise(p, 13, 1, ADVICE_NONE);
	CHECK_EQ(advice_of(p, 13), ADVICE_PLAIN);
	CHECK_EQ(advice_of(p, 14), ADVICE_HUGE);
	CHECK_EQ(heap_default.borders, 3);
	ash_release(p);
}

/* Pages that are moved take their mapping's advice along. */
TEST(inner_advice_moves, 10)
{
	char *p = advised(100);

	advise(p, 1, 2, ADVICE_PLAIN);
	advise(p, 51, 1, ADVICE_PLAIN);
	region_moved(run_of_span(p, 0), run_of_span(p, 50), 3);
	CHECK_EQ(advice_of(p, 50), ADVICE_HUGE);
	CHECK_EQ(advice_of(p, 51), ADVICE_PLAIN);
	CHECK_EQ(advice_of(p, 52), ADVICE_UNKNOWN);
	CHECK_EQ(advice_of(p, 53), ADVICE_HUGE);
	CHECK_EQ(advice_of(p, 54), ADVICE_HUGE);
	CHECK_EQ(heap_default.borders, 1 + 2 + 3);
	ash_release(p);
}

/* No huge page is asked for where an eighth of it is used; a span that grows keeps its advice. */
TEST(inner_advice_of_spans, 10)
{
	char *p = advised(100), *q, *r;

	q = ash_alloc(40 * MIB + 4096);
	CHECK(advice_of(q, 19) == ADVICE_HUGE && advice_of(q, 20) != ADVICE_HUGE);
	CHECK(!is_sparse(q));
	ash_release(q);
	q = ash_alloc(41 * MIB);
	CHECK(advice_of(q, 19) == ADVICE_HUGE && advice_of(q, 20) == ADVICE_HUGE);
	ash_release(q);
	ash_release(p);
	(void)ash_trim(0);
	q = ash_alloc(20 * MIB);
	r = ash_zalloc(1, 20 * MIB);
	CHECK(advice_of(q, 0) != ADVICE_HUGE && !is_sparse(q));
	CHECK(advice_of(r, 0) != ADVICE_HUGE && is_sparse(r));
	r = ash_resize(r, 50 * MIB);
	CHECK(advice_of(r, 0) != ADVICE_HUGE && advice_of(r, 24) != ADVICE_HUGE && is_sparse(r));
	q = ash_resize(q, 60 * MIB);
	CHECK(advice_of(q, 29) == ADVICE_HUGE && !is_sparse(q));
	ash_release(q);
	ash_release(r);
	(void)ash_trim(0);
	CHECK_EQ(heap_default.borders, 0);
}

/* The options of a heap take precedence over the policy. */
TEST(inner_advice_by_options, 10)
{
	struct ash_defaults options = {.huge = ASH_HUGE_NEVER};
	struct heap h = {.options = &options, .sharing = PAGES_PRIVATE};
	enum huge_use use;

	for (use = HUGE_MIXED; use <= HUGE_ZEROED; use++) {
		options.huge = ASH_HUGE_NEVER;
		CHECK_EQ(huge_policy(&h, use, 64 * MIB), ADVICE_PLAIN);
		CHECK_EQ(huge_policy(&h, use, 2 * MIB), ADVICE_PLAIN);
		options.huge = ASH_HUGE_POPULATE;
		CHECK_EQ(huge_policy(&h, use, 64 * MIB), ADVICE_HUGE);
	}
	options.huge = ASH_HUGE_DEFAULT;
	CHECK_EQ(huge_policy(&h, HUGE_MIXED, 0), ADVICE_NONE);
	if (PAGE_SIZE > PAGE_LEAST) { /* huge ones are larger than chunks */
		h.slab_chunks = 24;
		CHECK_EQ(huge_policy(&h, HUGE_SLABS, 0), ADVICE_NONE);
		CHECK_EQ(huge_policy(&h, HUGE_FILLED, 64 * MIB), ADVICE_NONE);
		return;
	}
	h.slab_chunks = 23;
	CHECK_EQ(huge_policy(&h, HUGE_SLABS, 0), ADVICE_NONE);
	h.slab_chunks = 24;
	CHECK_EQ(huge_policy(&h, HUGE_SLABS, 0), ADVICE_HUGE);
	CHECK_EQ(huge_policy(&h, HUGE_MIXED, 0), ADVICE_NONE);
	CHECK_EQ(huge_policy(&h, HUGE_FILLED, 32 * MIB), ADVICE_HUGE);
	CHECK_EQ(huge_policy(&h, HUGE_FILLED, 32 * MIB - 1), ADVICE_NONE);
	CHECK_EQ(huge_policy(&h, HUGE_ZEROED, 4 * MIB - 1), ADVICE_NONE);
	CHECK_EQ(huge_policy(&h, HUGE_ZEROED, 4 * MIB), ADVICE_PLAIN);
	CHECK(huge_policy(&h, HUGE_ZEROED, 64 * MIB) != ADVICE_HUGE);
}

/* A chunk of slabs is advised alone: what comes behind it may be a span's. */
TEST(inner_advice_of_a_chunk_of_slabs, 10)
{
	struct ash_heap_options options = {.huge = ASH_HUGE_NEVER};
	ash_heap *heap = ash_heap_create(&options);
	struct run run;
	void *p;

	heap_of(heap)->own.initial = 8 * CHUNK_SIZE;
	p = ash_heap_alloc(heap, 1000);
	run = run_of_span(p, 0);
	CHECK(run.first + 1 < run.region->chunks);
	if (!pages_huge(run_base(run), CHUNK_SIZE, false))
		rt_skip("the kernel takes no advice here");
	CHECK_EQ(advice_of(p, 0), ADVICE_PLAIN);
	CHECK_EQ(advice_of(p, 1), ADVICE_NONE);
	ash_heap_destroy(heap);
}
