/* SPDX-License-Identifier: MIT */
/* The search for free granules of an arena that is full but for a few. */
#include "arena/arena.h"
#include "heaps/instance.h"
#include "support/handler_at_step.h"
#include "support/heap_in.h"
#include "syscall.h"

static char memory[2 * ARENA_MIN];
static ash_heap *heap;
static struct arena *a;

static char *granule(size_t i)
{
	return a->base + i * GRANULE;
}

/* Blocks of one granule each, in order. */
static void fill_arena(void)
{
	size_t i;

	heap = NOT_NULL(ash_heap_create_in(memory, ARENA_MIN));
	a = arena_of(heap);
	CHECK(a->word_count > 8);
	for (i = 0; i < a->granules; i++)
		CHECK(arena_alloc(a, GRANULE, GRANULE) == granule(i));
	CHECK(arena_alloc(a, GRANULE, GRANULE) == NULL);
}

/* In the word before, a granule is free and those behind it are not. */
TEST(arena_search_passes_a_word_that_ends_taken, 10)
{
	fill_arena();
	CHECK(arena_release(a, granule(2 * ARENA_WORD)));
	CHECK(arena_release(a, granule(2 * ARENA_WORD + 1)));
	CHECK(arena_release(a, granule(ARENA_WORD + 5)));
	CHECK(arena_alloc(a, 2 * GRANULE, GRANULE) == granule(2 * ARENA_WORD));
	CHECK(arena_alloc(a, 2 * GRANULE, GRANULE) == NULL);
	CHECK(arena_alloc(a, GRANULE, GRANULE) == granule(ARENA_WORD + 5));
	CHECK_EQ(ash_heap_check(heap), 0);
}

/* The lowest run that is long enough, whatever was released last. */
TEST(arena_search_takes_the_lowest, 10)
{
	static const size_t at[] = {0, 3 * ARENA_WORD - 1, 9 * ARENA_WORD, 70 * ARENA_WORD + 31};

	fill_arena();
	for (size_t n = 4; n-- > 0;)
		CHECK(arena_release(a, granule(at[n])) && arena_release(a, granule(at[n] + 1)));
	for (size_t n = 0; n < 4; n++) {
		CHECK(arena_alloc(a, 2 * GRANULE, GRANULE) == granule(at[n]));
		CHECK(arena_release(a, granule(at[n])));
		CHECK(arena_alloc(a, GRANULE, GRANULE) == granule(at[n]));
		CHECK(arena_alloc(a, GRANULE, GRANULE) == granule(at[n] + 1));
	}
	CHECK(arena_alloc(a, GRANULE, GRANULE) == NULL);
}

/* The right to release is the block's own granule, not also the next one. */
TEST(arena_search_finds_no_block_beside_a_released_one, 10)
{
	fill_arena();
	for (size_t i = 1; i < 2 * ARENA_WORD; i++) {
		CHECK(arena_release(a, granule(i)));
		CHECK(!arena_release(a, granule(i)));
		CHECK(arena_alloc(a, GRANULE, GRANULE) == granule(i));
	}
	CHECK_EQ(ash_heap_check(heap), 0);
}

/* Where the last word has no granule beyond the end, the memory behind the words is not taken for granules. */
TEST(arena_search_ends_with_the_last_word, 10)
{
	size_t i, seen = 0;

	memset(memory, 0, sizeof memory);
	for (i = 0; i < 4 * ARENA_WORD; i++) {
		char *p;

		heap = NOT_NULL(ash_heap_create_in(memory, ARENA_MIN + i * GRANULE));
		a = arena_of(heap);
		p = arena_alloc(a, (a->granules - 1) * GRANULE, GRANULE);
		CHECK(p == a->base);
		memset(p, 0, GRANULE);
		CHECK(arena_alloc(a, 2 * GRANULE, GRANULE) == NULL);
		CHECK(arena_alloc(a, GRANULE, GRANULE) == granule(a->granules - 1));
		seen += a->granules % ARENA_WORD == 0;
		ash_heap_destroy(heap);
	}
	CHECK(seen > 0);
}

TEST(arena_search_aligns_up_to_1_gib, 10)
{
	const uintptr_t border = (uintptr_t)1 << 36;
	/* PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS */
	long at = arch_mmap((char *)border - ARENA_MIN, 2 * ARENA_MIN, 3, 0x22, -1, 0); /* NOLINT */

	if (at != (long)(border - ARENA_MIN))
		rt_skip("the address is taken");
	heap = ash_heap_create_in((void *)at, 2 * ARENA_MIN); /* NOLINT */
	CHECK(heap != NULL);
	CHECK(ash_heap_aligned_alloc(heap, (size_t)1 << 31, 100) == NULL);
	CHECK(ash_heap_aligned_alloc(heap, (size_t)1 << 30, 100) == (void *)border); /* NOLINT */
}

static char *taken_by_handler, *taken;

DOES(take_by_handler, taken_by_handler = arena_alloc(a, GRANULE, GRANULE));
DOES(take, taken = arena_alloc(a, GRANULE, GRANULE));

/* A handler takes the run that the call had found: the call goes on to the next free run. */
TEST(arena_search_after_another_took_it, 20)
{
	bool more = true;

	fill_arena();
	step_begin(take_by_handler);
	for (size_t k = 0; more; k++) {
		CHECK(arena_release(a, granule(ARENA_WORD + 8)));
		CHECK(arena_release(a, granule(3 * ARENA_WORD + 4)));
		more = with_act_at(k, take);
		if (!more)
			take_by_handler();
		CHECK(taken != NULL && taken_by_handler != NULL && taken != taken_by_handler);
	}
	CHECK_EQ(ash_heap_check(heap), 0);
}

static int is_of_a_live_process(UNUSED void *context, UNUSED void *p,
				UNUSED size_t size, const struct ash_heap_owner *owner)
{
	CHECK(owner->live);
	return 1;
}

TEST(arena_search_walk_says_that_owners_live, 10)
{
	fill_arena();
	CHECK_EQ(ash_heap_walk(heap, is_of_a_live_process, NULL), 1);
}
