/* SPDX-License-Identifier: MIT */
/* A heap for each request: what it costs, and that it is as good as a new one; what remains of those that are destroyed. */
/* promises: ash_heap_create, ash_heap_destroy */
#include "heaps/instance.h"
#include "inner/thread_at.h"
#include "program/calls.h"
#include "heaps/seats.h"
#include "support/blocks.h"
#include "support/handler_at_step.h"
#include "support/pattern.h"

static size_t calls;
#define COUNT(call) WRAP_CALL(call, calls++)
CALLS_OF_MEMORY(COUNT)

enum { BLOCKS = 100, REQUESTS = 500 };

static void serve(ash_heap *heap)
{
	for (unsigned k = 0; k < BLOCKS; k++) {
		size_t size = 50 + k * 10;
		char *p = NOT_NULL(k % 2 != 0 ? ash_heap_alloc(heap, size) : ash_heap_zalloc(heap, 1, size));

		CHECK(k % 2 != 0 || (p[0] == 0 && memcmp(p, p + 1, size - 1) == 0));
		memset(p, 0xff, size);
		if (k % 3 == 0)
			ash_heap_release(heap, p);
	}
}

static void request(void)
{
	ash_heap *heap = NOT_NULL(ash_heap_create(NULL));

	serve(heap);
	ash_heap_destroy(heap);
}

static void request_in_request(void)
{
	ash_heap *heap = NOT_NULL(ash_heap_create(NULL));

	serve(heap);
	request();
	serve(heap);
	ash_heap_destroy(heap);
}

static void request_empty(void)
{
	ash_heap_destroy(NOT_NULL(ash_heap_create(NULL)));
}

/* The one call asks whether the record is mapped: what is destroyed twice may not be. */
static void costs(const char *name, void (*each)(void), unsigned heaps)
{
	unsigned long faults;
	unsigned i;

	for (i = 0; i < 20; i++)
		each();
	calls = 0;
	faults = rt_faults();
	for (i = 0; i < REQUESTS; i++)
		each();
	faults = rt_faults() - faults;
	rt_print("     %s: %zu calls, %lu faults for %u heaps\n", name, calls, faults, REQUESTS * heaps);
	CHECK(calls <= (size_t)REQUESTS * heaps * (rt_under_qemu() ? 2 : 1)); /* there it is asked twice */
	CHECK(rt_under_qemu() || faults <= (unsigned long)REQUESTS / 10);
}

TEST(heap_requests_cost, 20)
{
	costs("one", request, 1);
	costs("one in another", request_in_request, 2);
	costs("empty", request_empty, 1);
}

/* ---- as good as new ---- */

static void agrees(ash_heap *heap)
{
	struct ash_statistics s = stats_of(heap);
	struct heap *h = heap_of(heap);

	CHECK_EQ(s.dirty, h->dirty * UNIT_SIZE);
	CHECK_EQ(s.reserved, h->reserved * CHUNK_SIZE);
	peaks_hold(&s);
	CHECK_EQ(ash_heap_check(heap), 0);
}

static ash_heap *used;
static void *given[BLOCKS];

static void others(void)
{
	for (unsigned k = 0; k < BLOCKS; k += 2)
		ash_heap_release(used, given[k]);
	serve(used); /* its record stays: the thread does not detach */
}

/* At the end: nobody collects them. */
static void others_last(void)
{
	for (unsigned k = 1; k < BLOCKS; k += 2)
		ash_heap_release(used, given[k]);
}

/* Blocks of all kinds, by two threads, each with some of the other's that it released. */
static void uses(unsigned round)
{
	for (unsigned k = 0; k < BLOCKS; k++)
		given[k] = NOT_NULL(ash_heap_alloc(used, 1 + k * k));
	thread_at(round % 2, others);
	serve(used);
	if (round % 3 == 0) {
		char *large = NOT_NULL(ash_heap_alloc(used, (round % 9 + 1) * 300000));

		memset(large, 0xff, (round % 9 + 1) * 300000);
		if (round % 2 != 0)
			ash_heap_release(used, large);
	}
	/* As in a handler that interrupted a call: unowned slabs. */
	if (round % 4 != 0) {
		struct seats_call call = seats_enter(heap_of(used));

		serve(used);
		seats_exit(call);
	} else {
		(void)ash_heap_trim(used, 0);
	}
	thread_at(round % 2, others_last);
}

static bool reads_zero(const void *p, size_t bytes)
{
	const char *byte = p;

	return byte[0] == 0 && memcmp(byte, byte + 1, bytes - 1) == 0;
}

/* Records of slabs and remote words are as in new memory. */
static void records_are_new(const struct heap *h)
{
	const struct region *r = h->regions;

	for (size_t i = 0; r != NULL && i < r->chunks; i++)
		CHECK(reads_zero((const char *)region_chunk(r, i) + sizeof(struct chunk), r->stride - sizeof(struct chunk)));
	CHECK(r == NULL || (r->next == NULL && reads_zero(r->remote, r->chunks * CHUNK_UNITS * r->remote_stride)));
}

TEST(heap_requests_as_new, 30)
{
	unsigned round;
	size_t n;

	for (round = 0; round < 40; round++) {
		used = NOT_NULL(ash_heap_create(NULL));
		records_are_new(heap_of(used));
		agrees(used);
		CHECK_EQ(stats_of(used).blocks, 0);
		uses(round);
		agrees(used);
		ash_heap_destroy(used);
	}
	/* All memory of one is zero where it must be. */
	used = NOT_NULL(ash_heap_create(NULL));
	for (n = 0; n < 6 * MIB; n += 3000) {
		char *p = NOT_NULL(ash_heap_zalloc(used, 1, 3000));

		CHECK(p[0] == 0 && memcmp(p, p + 1, 2999) == 0);
	}
	agrees(used);
	IN_CHILD {
		ash_heap_destroy(used);
		request();
		used = NOT_NULL(ash_heap_create(NULL));
		uses(0);
		agrees(used);
	}
	ash_heap_destroy(used);
	CHECK_EQ(ash_check(), 0);
}

/* A heap with another setting does not get memory that has not that setting. */
TEST(heap_requests_settings, 10)
{
	struct ash_heap_options capped = {.cap = 2 * MIB}, huge = {.huge = ASH_HUGE_ALWAYS}, *each[] = {&capped, &huge};

	for (unsigned i = 0; i < 20; i++) {
		request();
		used = NOT_NULL(ash_heap_create(each[i % 2]));
		CHECK(heap_of(used)->regions == NULL);
		serve(used);
		agrees(used);
		CHECK(i % 2 != 0 || stats_of(used).reserved <= capped.cap);
		ash_heap_destroy(used);
	}
}

/* ---- what remains ---- */

/* Blocks of a heap that has gone are nobody's, though their memory is mapped. */
TEST(heap_requests_blocks_are_gone, 10)
{
	struct ash_block b;
	void *p, *inner;

	used = NOT_NULL(ash_heap_create(NULL));
	p = NOT_NULL(ash_heap_alloc(used, 100));
	inner = NOT_NULL(ash_heap_create_in(ash_heap_alloc(used, 100000), 100000));
	CHECK(ash_heap_alloc(inner, 100) != NULL);
	CHECK_EQ(ash_heap_of(p), used);
	ash_heap_destroy(used);
	CHECK_EQ(ash_heap_of(p), NULL);
	(void)ash_find(p, &b);
	CHECK_EQ(b.place, ASH_FOREIGN);
	used = NOT_NULL(ash_heap_create(NULL));
	/* Of the next heap the address is again, and no block. */
	CHECK(ash_heap_of(p) == NULL || ash_heap_of(p) == used);
	CHECK_EQ(stats_of(used).blocks, 0);
	CHECK_EQ(stats_of(ash_heap_create_in(ash_heap_alloc(used, 100000), 100000)).blocks, 0);
	ash_heap_destroy(used);
}

/* So much stays of them all as ash_defaults.retain allows: a quarter of 10 MiB. */
TEST(heap_requests_bounded, 10)
{
	enum { HEAPS = 8 };
	ash_heap *heap[HEAPS];
	struct ash_heap_options none = {.retain = 1};
	size_t before, left, mapped;
	char *p;

	request();
	before = rt_anonymous();
	mapped = rt_address_space();
	for (unsigned round = 0; round < 3; round++) {
		for (unsigned i = 0; i < HEAPS; i++) {
			heap[i] = NOT_NULL(ash_heap_create(round == 2 ? &none : NULL));
			for (unsigned k = 0; k < 6; k++) {
				p = NOT_NULL(ash_heap_alloc(heap[i], 300000));
				memset(p, 1, 300000);
			}
		}
		for (unsigned i = 0; i < HEAPS; i++)
			ash_heap_destroy(heap[i]);
		left = rt_anonymous();
		left = left > before ? left - before : 0;
		rt_print("     %zu KiB stay of 14 MiB\n", left >> 10);
		CHECK(rt_under_qemu() || left <= (round == 2 ? MIB / 2 : 5 * MIB / 2 + MIB / 2) + rt_resident_slack());
	}
	CHECK(rt_under_qemu() || rt_address_space() <= mapped + MIB);
	/* And nothing behind ash_trim. */
	request();
	mapped = rt_address_space();
	CHECK(ash_trim(0) >= 100000);
	CHECK(rt_under_qemu() || rt_address_space() + 2 * MIB <= mapped);
	request();
}

/* What remains is given back before a call returns NULL. */
TEST(heap_requests_under_a_limit, 10)
{
	ash_heap *heap[4];
	unsigned i, n = 0;

	ash_release(NOT_NULL(ash_alloc(1)));
	for (i = 0; i < 4; i++)
		serve(heap[i] = NOT_NULL(ash_heap_create(NULL)));
	for (i = 0; i < 4; i++)
		ash_heap_destroy(heap[i]);
	if (!rt_limit_address_space(rt_address_space() + MIB)) {
		rt_print("     no limit here\n");
		return;
	}
	while (n < 10 && ash_alloc(MIB) != NULL)
		n++;
	rt_print("     %u blocks of 1 MiB\n", n);
	CHECK(n >= 5); /* the default heap has one chunk, the others had four */
}

/* ---- several threads, and a handler at any instruction ---- */

enum { THREADS = 6, EACH = 300 };

static void many(UNUSED void *argument)
{
	for (unsigned i = 0; i < EACH; i++) {
		request();
		if (i % 16 == 0)
			request_in_request();
		if (i % 64 == 0)
			(void)ash_trim(0);
	}
}

TEST(heap_requests_by_threads, 30)
{
	struct rt_thread *thread[THREADS];
	unsigned i;

	for (i = 0; i < THREADS; i++)
		thread[i] = NOT_NULL(rt_thread_start(many, NULL));
	rt_threads_join(thread, THREADS);
	used = NOT_NULL(ash_heap_create(NULL));
	uses(0);
	agrees(used);
	CHECK_EQ(ash_check(), 0);
}

static unsigned interruptions;

/* In the handler, and in a child of it. */
static void interrupt(void)
{
	request();
	if (interruptions++ % 8 == 0)
		IN_CHILD
			request_in_request();
}

/* As short as can be: each instruction of it is stepped over. */
static void request_stepped(void)
{
	ash_heap *heap = NOT_NULL(ash_heap_create(NULL));

	CHECK(ash_heap_alloc(heap, 100) != NULL && ash_heap_alloc(heap, 200) != NULL);
	ash_heap_destroy(heap);
}

TEST(heap_requests_interrupted, 60)
{
	bool more = true;
	size_t k;

	step_begin(interrupt);
	request_stepped();
	for (k = 1; more; k += 449)
		more = with_act_at(k, request_stepped);
	rt_print("     at %u instructions of %zu\n", interruptions, k);
	CHECK(interruptions > 20);
	used = NOT_NULL(ash_heap_create(NULL));
	uses(0);
	agrees(used);
}
