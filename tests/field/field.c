/* SPDX-License-Identifier: MIT */
/* Parts that libashlar-field.a alone has: small heaps, costs, and misuse without a system. */
#include "support/misuse.h"

#include "field/cost.h" /* whose names that one has for parameters */

const char misuse_traps = 1;

#define IN_ALL "it takes seconds, and is in build/tests/all"
#define OTHERS "of a kind of heap that this library has not; it is in build/tests/all"

const struct rt_left_out rt_left_out[] = {
	{"arena_interrupted_at_each_step", IN_ALL},
	{"arena_survives_death_at_each_step", IN_ALL},
	{"heap_threads", OTHERS},
	{"heap_shared_threads", OTHERS},
	{"heap_signals", OTHERS},
	{"heap_shared_signals", OTHERS},
	{"heap_fork_copies", OTHERS},
	{NULL, NULL},
};

/* The library writes nothing: the hook has the line. */
void ash_on_misuse(const char *line)
{
	CHECK(line == ash_last_words);
	rt_fprint(2, "%s", line);
}

TEST(field_small_heaps, 10)
{
	enum { GUARD = 0x5c, MOST = 4096, ROOM = 100 };
	static unsigned char memory[MOST + 2 * ROOM];
	size_t at, bytes, i, blocks, most;

	CHECK(ash_heap_create_in(memory, 1023) == NULL);
	for (bytes = 1024; bytes <= MOST; bytes = bytes * 5 / 4)
		for (at = 0; at < ROOM; at++) {
			struct ash_statistics st;
			ash_heap *h;

			memset(memory, GUARD, sizeof memory);
			h = NOT_NULL(ash_heap_create_in(memory + at, bytes));
			ash_heap_stats(h, &st);
			CHECK(st.reserved + bytes / 50 + 256 >= bytes && st.reserved < bytes);
			most = largest(h, bytes);
			CHECK_EQ(most, st.reserved);
			for (blocks = 0;; blocks++) {
				char *p = ash_heap_alloc(h, 16);

				if (p == NULL)
					break;
				memset(p, 1, 16);
			}
			CHECK_EQ(blocks, st.reserved / 16);
			CHECK_EQ(ash_heap_check(h), 0);
			for (i = 0; i < sizeof memory; i++)
				CHECK(memory[i] == GUARD || (i >= at && i < at + bytes));
		}
}

/* ---- misuse ---- */

static void release(void *p)
{
	ash_heap_release(heap, p);
}

static void release_wrong_size(void *p)
{
	ash_heap_release_sized(heap, p, 49);
}

static void resize(void *p)
{
	if (ash_heap_resize(heap, p, 50) != NULL)
		rt_exit(7);
}

static void destroy(void *p)
{
	ash_heap_destroy(p);
}

static void alloc(void *p)
{
	if (ash_heap_alloc(p, 1) != NULL)
		rt_exit(8);
}

static void expect(const char *call, void (*use)(void *), void *p, const char *fault)
{
	struct bad bad = {.p = p};

	rt_format(bad.fault, sizeof bad.fault, "%s", fault);
	misuse_expect(call, use, &bad);
}

TEST(field_misuse, 20)
{
	static _Alignas(64) char memory[4096], other[4096];
	struct bad bad;
	char *p, *q;

	heap = ash_heap_create_in(memory, sizeof memory);
	p = ash_heap_alloc(heap, 40);
	q = ash_heap_alloc(heap, 1000);
	bad_in(&bad, p, 8, "misaligned pointer", 48);
	misuse_expect("heap_release", release, &bad);
	bad_in(&bad, q, 992, "interior pointer", 1008);
	misuse_expect("heap_release", release, &bad);
	misuse_expect("heap_resize", resize, &bad);
	bad_in(&bad, p, 0, "wrong size", 48);
	misuse_expect("heap_release_sized", release_wrong_size, &bad);
	expect("heap_release", release, other, "not a block of this heap");
	expect("heap_resize", resize, memory, "not a block of this heap");
	ash_heap_release(heap, p);
	expect("heap_release", release, p, "double free");
	expect("heap_resize", resize, p, "block already released");
	ash_heap_destroy(heap);
	expect("heap_...", alloc, heap, "heap already destroyed");
	expect("heap_destroy", destroy, heap, "heap already destroyed");
}

/* ---- the costs in ashlar_heap.h, by instructions ---- */

DOES(call_resize, block = ash_heap_resize(heap, block, size_of_call));

/* Chains blocks of 16 bytes in all of the heap; the last one, which has the highest address. */
static void *fill(void)
{
	void *last = NULL, *p;

	while ((p = ash_heap_alloc(heap, 16)) != NULL) {
		*(void **)p = last;
		last = p;
	}
	return last;
}

/* Promises of long runs for each word, and then one block in all of them but two granules. */
static void promise_falsely(size_t bytes)
{
	void *last, *p;

	for (last = fill(); last != NULL; last = p) {
		p = *(void **)last;
		ash_heap_release(heap, last);
	}
	CHECK(ash_heap_alloc(heap, bytes - 32) != NULL);
}

TEST(field_worst_cases, 60)
{
	static char memory[64 << 10];
	void *p, *last = NULL;
	size_t words, cost[6] = {0}, alloc_most, give_most, i;
	struct ash_statistics st;

	step_begin(never);
	for (i = 0; i < 3; i++) {
		size_t bytes = (size_t)4096 << 2 * i;
		bool odd = false;

		heap = ash_heap_create_in(memory, bytes);
		ash_heap_stats(heap, &st);
		words = (st.reserved / 16 + 31) / 32;
		/* Every second granule is free. */
		for (last = fill(); last != NULL; last = p, odd = !odd) {
			p = *(void **)last;
			if (odd)
				ash_heap_release(heap, last);
		}
		size_of_call = 32;
		cost[0] = instructions(call_alloc);
		CHECK(block == NULL);
		/* Nothing is free where the summary says so. */
		heap = ash_heap_create_in(memory, bytes);
		promise_falsely(st.reserved);
		size_of_call = 48;
		cost[5] = instructions(call_alloc);
		CHECK(block == NULL);
		/* The summary is right after two of them. */
		call_alloc();
		CHECK(instructions(call_alloc) <= 300);
		/* All of it as one block. */
		heap = ash_heap_create_in(memory, bytes);
		size_of_call = st.reserved;
		cost[1] = instructions(call_alloc);
		CHECK(block != NULL);
		size_of_call = 1;
		cost[2] = instructions(call_resize);
		size_of_call = st.reserved;
		cost[3] = instructions(call_resize);
		CHECK(block != NULL);
		cost[4] = instructions(call_release);
		CHECK_EQ(largest(heap, bytes), st.reserved);
		rt_print("     %zu KiB, %zu words: full %zu, false promises %zu, alloc %zu, shrink %zu, grow %zu, release "
			 "%zu instructions\n",
			 bytes / KIB, words, cost[0], cost[5], cost[1], cost[2], cost[3], cost[4]);
		alloc_most = 500 + 250 * words;
		give_most = 500 + 70 * words;
		CHECK(cost[0] <= 500 && cost[5] <= alloc_most && cost[1] <= 500 + 80 * words);
		CHECK(cost[2] <= give_most && cost[3] <= give_most && cost[4] <= give_most);
	}
}

/* Zeroed, aligned or not, where another block was. */
TEST(field_zeroed_again, 10)
{
	static _Alignas(64) char memory[100000];
	ash_heap *h = ash_heap_create_in(memory, sizeof memory);
	unsigned char *p = NOT_NULL(ash_heap_alloc(h, 60000));

	memset(p, 0xa5, 60000);
	ash_heap_release(h, p);
	p = ash_heap_aligned_zalloc(h, 256, 40000);
	CHECK(p != NULL && (uintptr_t)p % 256 == 0);
	for (unsigned i = 0; i < 40000; i++)
		CHECK_EQ(p[i], 0);
	memset(p, 0xa5, 40000);
	ash_heap_release(h, p);
	p = NOT_NULL(ash_heap_zalloc(h, 100, 400));
	for (unsigned i = 0; i < 40000; i++)
		CHECK_EQ(p[i], 0);
}
