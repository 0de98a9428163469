/* SPDX-License-Identifier: MIT */
/* Runs of chunks: the regions in which they may lie, the memory left in them, and the records that are known. */
#include "ashlar_heap.h"
#include "backend/map.h"
#include "backend/region.h"
#include "backend/retain.h"
#include "heaps/instance.h"
#include "pages.h"
#include "support/blocks.h"

#define CHUNKS(n) ((n) * CHUNK_SIZE)

static struct heap *const d = &heap_default;

/* A region that spans made has no records of slabs, however much of it is free. */
TEST(claim_slabs_where_their_records_are, 10)
{
	struct run span = region_claim(d, 20, 2, false), run;

	CHECK(span.region != NULL && span.region->remote == NULL && span.region->chunks == 30);
	for (size_t i = 0; i < 12; i++) {
		run = region_claim(d, 1, 1, true);
		CHECK(run.region != NULL && run.region->remote != NULL);
	}
	run = region_claim(d, 10, 1, false);
	CHECK(run.region == span.region && run.first == 20);
	region_give(run, 10, LEFT_CLEAN);
	region_give(span, 20, LEFT_CLEAN);
}

static struct run run_at(const char *p, size_t chunk)
{
	struct region *r = region_of(d, p);

	return (struct run){r, (size_t)(p - r->base) / CHUNK_SIZE + chunk};
}

/* A run that is purged, but for its head, leaves the memory before it and behind it. */
TEST(claim_beside_a_run_that_is_purged, 10)
{
	char *p[3];

	d->floor = 100000;
	ash_release(ash_alloc(CHUNKS(20))); /* a region for all of them */
	(void)heap_trim(d, 0);
	for (size_t i = 0; i < 3; i++) {
		p[i] = ash_zalloc(1, CHUNKS(4));
		CHECK(i == 0 || p[i] == p[i - 1] + CHUNKS(4));
	}
	memset(p[0], 1, CHUNKS(4));
	memset(p[2], 1, CHUNKS(4));
	p[1][0] = 1;
	ash_release(p[1]);
	for (size_t i = 0; i < CHUNKS(4); i += PAGE_LEAST)
		CHECK(p[0][i] == 1 && p[2][i] == 1);
	ash_release(p[0]);
	ash_release(p[2]);
}

/* A span that is written over a run's head is not taken for one that reads zero behind it. */
TEST(claim_of_heads_in_a_larger_span, 10)
{
	enum { FEW = 4, ALL = 12 };
	char *p[ALL / FEW], *all;

	d->floor = 100000; /* released memory stays */
	ash_release(ash_alloc(CHUNKS(20))); /* a region for all of them */
	(void)heap_trim(d, 0);
	for (size_t i = 0; i < ALL / FEW; i++) {
		p[i] = ash_zalloc(1, CHUNKS(FEW));
		CHECK(i == 0 || p[i] == p[i - 1] + CHUNKS(FEW));
		p[i][0] = 1;
	}
	release_each(p, ALL / FEW);
	CHECK_EQ(d->dirty, ALL / FEW * CHUNK_UNITS);
	for (size_t i = 0; i < ALL; i++)
		CHECK_EQ(region_has_head(run_at(p[0], i)), i % FEW == 0);
	all = ash_alloc(CHUNKS(ALL));
	CHECK(all == p[0]);
	memset(all, 1, CHUNKS(ALL));
	ash_release(all);
	CHECK_EQ(d->dirty, ALL * CHUNK_UNITS);
	for (size_t i = 0; i < ALL; i++)
		CHECK(!region_has_head(run_at(all, i)));
	CHECK(ash_zalloc(1, CHUNKS(ALL)) == all);
	for (size_t i = 0; i < CHUNKS(ALL); i += 8)
		CHECK_EQ(*(uint64_t *)(void *)(all + i), 0);
	ash_release(all);
}

/* A record lies behind the last chunk's byte of advice. */
TEST(claim_that_ends_where_the_advice_does, 10)
{
	struct region_plan plan = {0, 1, 0, false, 0};
	struct region *r;
	size_t seen = 0;

	for (size_t n = 16; n < 16 + 2 * CPU_LINE; n++) {
		plan.chunks = plan.claimed = n;
		r = NOT_NULL(region_create(d, &plan));
		if ((char *)r->advice + n == r->records) {
			seen++;
			r->records[0] = (char)0xff;
			heap_dirtied(d, CHUNK_UNITS, 0);
			bits_clear(r->clean, n - 1, 1);
			region_give((struct run){r, n - 1}, 1, LEFT_DIRTY);
			CHECK_EQ((unsigned char)r->records[0], 0xff);
			r->records[0] = 0;
			CHECK(region_claim_at((struct run){r, n - 1}, 1));
		}
		region_give((struct run){r, 0}, n, LEFT_CLEAN);
		CHECK_EQ(region_trim(d, false), CHUNKS(n));
	}
	CHECK(seen > 0);
}

/* Each known record is found, in order, and no record behind the region's chunks. */
TEST(claim_known_records_are_found, 10)
{
	static const size_t at[] = {0, 1, 62, 63, 64, 65, 126, 127, 128, 191, 192, 255, 256, 257, 300, 319};
	enum { MOST = 320 };
	uint64_t known[MOST / 64 + 1];
	struct region r = {.known = known};

	for (size_t chunks = 1; chunks <= MOST; chunks++) {
		size_t next = 0, k;

		memset(known, 0, sizeof known);
		for (k = 0; k < sizeof at / sizeof *at; k++)
			if (at[k] < chunks)
				bits_release(known, at[k], 1);
		if (chunks % 64 == 0)
			known[chunks / 64] = BITS_ALL; /* something else's */
		r.chunks = chunks;
		for (k = 0; k < sizeof at / sizeof *at && at[k] < chunks; k++) {
			CHECK_EQ(region_next_known(&r, next), at[k]);
			next = at[k] + 1;
		}
		CHECK_EQ(region_next_known(&r, next), SIZE_MAX);
	}
	/* One alone, from wherever before it. */
	for (size_t k = 0; k < sizeof at / sizeof *at; k++) {
		memset(known, 0, sizeof known);
		bits_release(known, at[k], 1);
		for (size_t from = 0; from < MOST; from++)
			CHECK_EQ(region_next_known(&r, from), from <= at[k] ? at[k] : SIZE_MAX);
	}
}

/* Under a limit a span gets a region of its own after the attempt that failed: the counted chunks are mapped. */
TEST(claim_under_a_limit_counts_right, 10)
{
	enum { SPANS = 100 };
	static void *p[SPANS], *small[400];
	struct ash_statistics st;
	size_t n = 0;

	alloc_each(small, 400, 100000);
	if (rt_under_qemu() || !rt_limit_address_space(rt_address_space() + 20 * MIB))
		rt_skip("a limit of addresses has no effect under QEMU");
	while (n < SPANS && (p[n] = ash_alloc(2 * MIB + 64 * KIB)) != NULL) {
		ash_stats(&st);
		CHECK_EQ(st.reserved, d->reserved * CHUNK_SIZE);
		n++;
	}
	CHECK(n > 5 && n < SPANS);
	release_each(p, n);
	release_each(small, 400);
	ash_thread_detach();
	(void)ash_trim(0);
	(void)region_trim(d, true);
	ash_stats(&st);
	CHECK_EQ(st.reserved, d->reserved * CHUNK_SIZE);
	CHECK_EQ(ash_check(), 0);
}

/* The addresses that are left besides those of the process. */
static void limit_to(size_t bytes)
{
	if (rt_under_qemu() || !rt_limit_address_space(rt_address_space() + bytes))
		rt_skip("a limit of addresses has no effect under QEMU");
}

/* Where whole chunks are not to be had, the bytes are; and the chunks of these are counted, no others. */
static void just_the_bytes(size_t initial)
{
	const size_t bytes = 2 * MIB + PAGE_MOST;
	struct heap *h = heap_of(NOT_NULL(ash_heap_create(NULL)));
	struct run run;

	h->own.initial = initial;
	CHECK(pages_reserve(bytes, CHUNK_SIZE, PAGES_PRIVATE) != NULL); /* the next one is aligned at once, below it */
	limit_to(3 * MIB + MIB / 2);
	run = region_claim_bytes(h, bytes, 1, false);
	CHECK(run.region != NULL && region_alone(run.region) == bytes && h->reserved == 2);
}

TEST_CALL(claim_of_just_the_bytes, 10, just_the_bytes(CHUNK_SIZE));
TEST_CALL(claim_of_just_the_bytes_after_a_large_step, 10, just_the_bytes(CHUNKS(64)));

/* Nothing is reserved ahead where addresses are short, and free ends of regions serve others. */
TEST(claim_under_a_limit_takes_no_more, 10)
{
	char *p = ash_alloc(CHUNKS(20)), *q;

	CHECK_EQ(region_of(d, p)->chunks, 30);
	limit_to(64 * MIB);
	q = ash_alloc(CHUNKS(20));
	CHECK(q != NULL && region_of(d, q)->chunks == 20);
	limit_to(8 * MIB);
	CHECK(ash_alloc(CHUNKS(12)) != NULL); /* 10 of them of the first region's end */
	CHECK_EQ(region_of(d, p)->chunks, 20);
	CHECK_EQ(ash_check(), 0);
}
