/* SPDX-License-Identifier: MIT */
/* Spans that get the pages of retained chunks (retain_lend in core/backend/retain.c). */
#include "backend/map.h"
#include "backend/retain.h"
#include "pages.h"
#include "support/blocks.h"

#define CHUNKS(n) ((n) * CHUNK_SIZE)

/* Skips where pages cannot be moved. */
static void need_remap(void)
{
	char *p = pages_reserve(CHUNKS(2), CHUNK_SIZE, PAGES_PRIVATE);

	*(volatile char *)p = 1;
	if (!pages_remap(p, p + CHUNK_SIZE, CHUNK_SIZE))
		rt_skip("the emulator moves no pages");
	CHECK_EQ(p[0], 0);
	CHECK_EQ(p[CHUNK_SIZE], 1);
	(void)pages_release(p, CHUNKS(2));
}

static char *written(size_t chunks)
{
	char *p = ash_alloc(CHUNKS(chunks));

	memset(p, 1, CHUNKS(chunks));
	return p;
}

/*
 * Two retained chunks, too few for the next span; the chunk behind them is in use.  More would
 * be purged when fresh memory is taken.
 */
static char *retained_two(void)
{
	char *p = written(2);
	const struct chunk *c = map_find(p);

	heap_default.floor = 1000000; /* released memory stays */
	while (c->index + 2 < c->region->chunks && bits_all(c->region->free, c->index + 2, 1))
		(void)ash_alloc(CHUNKS(1));
	ash_release(p);
	CHECK_EQ(heap_default.dirty, 2 * CHUNK_UNITS);
	return p;
}

static size_t dirty_chunks(const char *p, size_t n)
{
	const struct chunk *c = map_find(p);

	return region_dirty((struct run){c->region, c->index}, n);
}

TEST(lend_pages_to_a_span, 10)
{
	char *p, *q;

	need_remap();
	p = retained_two();
	q = ash_alloc(CHUNKS(5));
	CHECK(q != p);
	CHECK_EQ(heap_default.dirty, 0);
	CHECK_EQ(pages_count(q, CHUNKS(5)), CHUNKS(2));
	CHECK_EQ(pages_count(p, CHUNKS(2)), 0);
	/* Moved pages are counted and known to be dirty, and the place that they left reads zero. */
	memset(q, 2, CHUNKS(5));
	ash_release(q);
	CHECK_EQ(heap_default.dirty, 5 * CHUNK_UNITS);
	CHECK_EQ(ash_check(), 0);
	CHECK_EQ(dirty_chunks(p, 2), 0);
	q = ash_zalloc(1, CHUNKS(2));
	CHECK(q == p);
	for (size_t i = 0; i < CHUNKS(2); i += 512)
		CHECK_EQ(q[i], 0);
	(void)ash_trim(0);
	CHECK_EQ(heap_default.dirty, 0);
	CHECK_EQ(ash_check(), 0);
}

/* Zeroed spans may stay sparse, spans from 32 MiB on get huge pages: fresh memory for both. */
TEST(lend_not_to_zeroed_or_large_spans, 10)
{
	char *q;

	need_remap();
	(void)retained_two();
	q = ash_zalloc(1, CHUNKS(5));
	CHECK_EQ(pages_count(q, CHUNKS(5)), 0);
	CHECK_EQ(heap_default.dirty, 2 * CHUNK_UNITS);
	q = ash_alloc(CHUNKS(SPAN_REGION));
	CHECK_EQ(pages_count(q, CHUNKS(SPAN_REGION)), 0);
	CHECK_EQ(heap_default.dirty, 2 * CHUNK_UNITS);
	q = ash_alloc(CHUNKS(SPAN_REGION) - 1);
	CHECK_EQ(heap_default.dirty, 2 * CHUNK_UNITS);
	q = ash_alloc(CHUNKS(SPAN_REGION - 1));
	CHECK_EQ(pages_count(q, CHUNKS(SPAN_REGION - 1)), CHUNKS(2));
	CHECK_EQ(heap_default.dirty, 0);
}

/* Each chunk that is moved to may be a mapping, of which a process has 65 530: not in heaps above 16 GiB. */
TEST(lend_not_in_the_largest_heaps, 10)
{
	uint64_t reserved;
	char *q;

	need_remap();
	(void)retained_two();
	reserved = heap_default.reserved;
	store_relaxed(&heap_default.reserved, (uint64_t)((size_t)16 * 1024 * MIB / CHUNK_SIZE) + 1);
	q = ash_alloc(CHUNKS(5));
	CHECK_EQ(pages_count(q, CHUNKS(5)), 0);
	CHECK_EQ(heap_default.dirty, 2 * CHUNK_UNITS);
	store_relaxed(&heap_default.reserved, (uint64_t)((size_t)16 * 1024 * MIB / CHUNK_SIZE));
	q = ash_alloc(CHUNKS(5));
	CHECK_EQ(pages_count(q, CHUNKS(5)), CHUNKS(2));
	store_relaxed(&heap_default.reserved, reserved);
}

/* Buffers that come and go make a mapping a chunk at most, and all of them are one again when it is trimmed. */
TEST(lend_makes_few_mappings, 60)
{
	enum { BUFFERS = 24, STEPS = 600 };
	static char *buffer[BUFFERS];
	size_t before, most = 0, n;
	struct rt_random r;

	need_remap();
	if (rt_under_qemu())
		rt_skip("mappings are the emulator's");
	before = rt_mappings();
	rt_seed(&r, rt_test_seed());
	for (unsigned i = 0; i < STEPS; i++) {
		char **b = &buffer[rt_below(&r, BUFFERS)];
		size_t bytes = 5 * MIB + rt_below(&r, 20 * MIB);

		ash_release(*b);
		*b = ash_alloc(bytes);
		for (size_t at = 0; at < bytes; at += 4096)
			(*b)[at] = 1;
		n = rt_mappings() - before;
		most = n > most ? n : most;
		CHECK(n <= heap_default.reserved + 40);
	}
	rt_print("     at most %zu mappings, of %zu chunks\n", most, (size_t)heap_default.reserved);
	CHECK(most > 40); /* it did lend */
	release_each(buffer, BUFFERS);
	(void)ash_trim(0);
	CHECK(rt_mappings() - before <= 40);
}

/* Chunks of slabs are not moved, although free units in them are dirty. */
TEST(lend_not_from_slabs, 10)
{
	char *small = ash_alloc(700), *p = ash_alloc(500000), *q;

	need_remap();
	memset(p, 1, 500000);
	ash_release(p);
	ash_thread_detach();
	CHECK(heap_default.dirty > 0);
	for (unsigned i = 0; i < 3; i++) {
		q = ash_alloc(CHUNKS(1));
		CHECK_EQ(pages_count(q, CHUNKS(1)), 0);
	}
	CHECK(heap_default.dirty > 0 && map_find(p) == map_find(small));
	CHECK_EQ(ash_check(), 0);
}

/* ---- many threads: each block keeps its contents, each zeroed block is zero ---- */

enum { THREADS = 4, ROUNDS = 60, LIVE = 4 };

static void come_and_go(void *argument)
{
	uint64_t random = (uintptr_t)argument * 88172645463325252u + 1;
	char *block[LIVE] = {0};
	size_t size[LIVE] = {0};

	for (unsigned i = 0; i < ROUNDS; i++) {
		unsigned k;

		random = random * 6364136223846793005u + 1442695040888963407u;
		k = (unsigned)(random >> 60) % LIVE;
		for (size_t at = 0; at < size[k]; at += 65536)
			CHECK_EQ(block[k][at], (char)(k + 1));
		ash_release(block[k]);
		size[k] = CHUNKS(1) / 2 + (random >> 33) % CHUNKS(4);
		if ((random >> 32 & 3) == 0) {
			block[k] = ash_zalloc(1, size[k]);
			for (size_t at = 0; at < size[k]; at += 4096)
				CHECK_EQ(block[k][at], 0);
		} else {
			block[k] = ash_alloc(size[k]);
		}
		for (size_t at = 0; at < size[k]; at += 65536)
			block[k][at] = (char)(k + 1);
		if (i % 32 == 31)
			(void)ash_trim(CHUNKS(3));
	}
	release_each(block, LIVE);
}

TEST(lend_between_threads, 30)
{
	struct rt_thread *thread[THREADS];

	for (uintptr_t i = 0; i < THREADS; i++) {
		thread[i] = rt_thread_start(come_and_go, (void *)i); /* NOLINT: a number */
		CHECK(thread[i] != NULL);
	}
	rt_threads_join(thread, THREADS);
	CHECK_EQ(ash_check(), 0);
	ash_thread_detach();
	CHECK_EQ(stats_now().dirty, (size_t)heap_default.dirty * UNIT_SIZE);
	(void)ash_trim(0);
	CHECK_EQ(stats_now().dirty, 0);
	CHECK_EQ(heap_default.dirty, 0);
}
