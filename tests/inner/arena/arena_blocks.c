/* SPDX-License-Identifier: MIT */
/*
 * Blocks of an arena: an arena inside a block, a block that cannot grow, ash_heap_check and
 * statistics.
 */
#include "arena/arena.h"
#include "arena/arena_call.h"
#include "heaps/instance.h"
#include "inner/spares.h"
#include "support/heap_in.h"
#include "support/shared_heap.h"
#include "thread/seating.h"

static char memory[2 << 20];

static ash_heap *outer, *inner;
static char *block, *in_inner;

/* The memory may contain anything. */
TEST(arena_block_in_dirty_memory, 10)
{
	static const unsigned char bytes[] = {0xff, 0xa5, 0x01};
	struct ash_statistics st;
	size_t n;

	for (size_t i = 0; i < sizeof bytes; i++) {
		memset(memory, bytes[i], sizeof memory);
		outer = ash_heap_create_in(memory, ARENA_MIN);
		CHECK(outer != NULL && ash_heap_root(outer) == NULL);
		ash_heap_stats(outer, &st);
		CHECK(st.blocks == 0 && st.dirty == st.reserved);
		CHECK_EQ(ash_heap_check(outer), 0);
		CHECK(ash_heap_alloc(outer, 1) == arena_of(outer)->base); /* the first there is */
		for (n = 1; ash_heap_alloc(outer, 1000) != NULL; n++)
			;
		CHECK_EQ(n, st.reserved / 1008 + 1);
		ash_heap_destroy(outer);
	}
}

/* Makes an arena inside a block of an arena; both begin at the same address. */
static void nest(size_t size, size_t inner_size)
{
	outer = NOT_NULL(ash_heap_create_in(memory, sizeof memory));
	block = NOT_NULL(ash_heap_alloc(outer, size));
	inner = NOT_NULL(ash_heap_create_in(block, inner_size));
	in_inner = ash_heap_alloc(inner, 1000);
	CHECK(arenas_find(in_inner) == arena_of(inner));
}

static void inner_is_gone(void)
{
	CHECK(arenas_find(in_inner) == arena_of(outer));
	CHECK_EQ(ash_heap_check(outer), 0);
	ash_heap_destroy(outer);
}

TEST(arena_block_goes_with_its_arena, 10)
{
	static const size_t sizes[] = {ARENA_MIN, ARENA_MIN + 16, 100000, 900000};
	unsigned i;

	for (i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
		nest(sizes[i], sizes[i]);
		ash_heap_release(outer, block);
		inner_is_gone();
		/* Moved: something stands behind it. */
		nest(sizes[i], ARENA_MIN);
		CHECK(ash_heap_alloc(outer, 16) != NULL);
		CHECK(ash_heap_resize(outer, block, sizes[i] + 5000) != block);
		inner_is_gone();
		/* Longer, where it stands. */
		nest(sizes[i], ARENA_MIN);
		CHECK(ash_heap_resize(outer, block, sizes[i] + 5000) == block);
		inner_is_gone();
		/* Shorter. */
		nest(sizes[i], ARENA_MIN);
		CHECK(ash_heap_resize(outer, block, ARENA_MIN - 5000) == block);
		inner_is_gone();
	}
}

/* A block that is resized to the size it has keeps the arena in it. */
TEST(arena_block_that_stays_keeps_its_arena, 10)
{
	nest(6 * ARENA_MIN, ARENA_MIN);
	CHECK(ash_heap_resize(outer, block, 6 * ARENA_MIN) == block);
	CHECK(arenas_find(in_inner) == arena_of(inner));
	ash_release(in_inner);
	CHECK_EQ(ash_heap_check(inner), 0);
	ash_heap_release(outer, block);
	inner_is_gone();
}

/* In a block of the default heap, whose slab was empty and kept before. */
TEST(arena_block_in_a_slab_that_was_spare, 10)
{
	enum { SIZE = 100000 };
	unsigned round;

	for (round = 0; round < 8; round++) {
		block = ash_alloc(SIZE);
		ash_release(block);
		block = ash_alloc(SIZE);
		inner = NOT_NULL(ash_heap_create_in(block, SIZE));
		in_inner = ash_heap_alloc(inner, 1000);
		CHECK(arenas_find(in_inner) == arena_of(inner));
		if (round % 2 == 1)
			CHECK(ash_alloc(SIZE) != NULL);
		ash_release(block);
		CHECK(arenas_find(in_inner) == NULL);
		CHECK(spares_number(seat.self) > 0); /* each says where it is */
		CHECK_EQ(ash_check(), 0);
	}
	(void)ash_trim(0);
	CHECK_EQ(spares_number(seat.self), 0);
	CHECK_EQ(ash_check(), 0);
}

/* A handler that interrupts a call makes an arena: the seat stays closed. */
TEST(arena_block_made_in_a_call, 10)
{
	block = ash_alloc(100000);
	CHECK(block != NULL && seat_take() == seat.self);
	inner = NOT_NULL(ash_heap_create_in(block, 100000));
	CHECK_EQ(seat.open, 0);
	in_inner = ash_heap_alloc(inner, 1000);
	CHECK(arenas_find(in_inner) == arena_of(inner));
	seat_open();
	ash_heap_destroy(inner);
	ash_release(block);
	CHECK_EQ(ash_check(), 0);
}

/* A block that cannot grow, because the arena is full, has its own granules afterwards and no others. */
TEST(arena_block_that_cannot_grow, 10)
{
	char *a, *gap, *b, *p;

	outer = ash_heap_create_in(memory, ARENA_MIN);
	a = ash_heap_alloc(outer, 64);
	gap = ash_heap_alloc(outer, 2000);
	b = ash_heap_alloc(outer, 64);
	CHECK(gap == a + 64 && b == gap + 2000);
	while (ash_heap_alloc(outer, 16) != NULL)
		;
	ash_heap_release(outer, gap);
	CHECK(ash_heap_resize(outer, a, 3000) == NULL);
	CHECK_EQ(ash_heap_usable_size(outer, a), 64);
	p = ash_heap_alloc(outer, 2000);
	CHECK(p == gap);
	CHECK_EQ(ash_heap_check(outer), 0);
}

/*
 * ash_heap_check finds a granule behind the end that is not HELD, however many the last word has.
 */
TEST(arena_block_beyond_the_end, 10)
{
	unsigned i, words = 0;

	for (i = 0; i < 40; i++) {
		struct arena *a;
		size_t beyond;
		uint64_t *last;

		outer = ash_heap_create_in(memory, ARENA_MIN + i * GRANULE);
		a = arena_of(outer);
		beyond = a->word_count * ARENA_WORD - a->granules;
		CHECK_EQ(ash_heap_check(outer), 0);
		if (beyond > 0) {
			last = &a->words[a->word_count - 1];
			*last &= ~((uint64_t)1 << (2 * ARENA_WORD - beyond));
			CHECK_EQ(ash_heap_check(outer), 12);
			words |= 1u << beyond;
		}
		ash_heap_destroy(outer);
	}
	CHECK_EQ(words, ~(uint32_t)1); /* each number from 1 on */
}

/* A run that is being taken or released counts neither as a block nor as bytes. */
TEST(arena_block_in_flight, 10)
{
	struct ash_statistics before, after;
	struct arena *a;
	char *p;
	size_t at, flights = 0;

	outer = ash_heap_create_in(memory, ARENA_MIN);
	a = arena_of(outer);
	CHECK(ash_heap_alloc(outer, 100) != NULL);
	ash_heap_stats(outer, &before);
	p = ash_heap_alloc(outer, 16);
	at = arena_index(a, p);
	a->words[at / ARENA_WORD] &= ~((uint64_t)1 << (at % ARENA_WORD)); /* HELD */
	ash_heap_stats(outer, &after);
	CHECK_EQ(after.blocks, before.blocks);
	CHECK_EQ(after.block_bytes, before.block_bytes);
	CHECK_EQ(after.dirty, before.dirty - 16);
	(void)ash_heap_walk(outer, count_flight, &flights);
	CHECK_EQ(flights, 1);
}

static ash_heap *shared;
static struct rt_barrier made, released;

static void make_block(UNUSED void *argument)
{
	enum { SIZE = 100000 };

	block = NOT_NULL(ash_heap_alloc(shared, SIZE));
	inner = NOT_NULL(ash_heap_create_in(block, SIZE));
	in_inner = NOT_NULL(ash_heap_alloc(inner, 1000));
	rt_barrier_wait(&made);
	rt_barrier_wait(&released);
}

/* In a block of a shared heap, of another thread's slab. */
TEST(arena_block_that_another_thread_releases, 10)
{
	struct rt_thread *t;

	shared = shared_heap((size_t)8 << 20);
	CHECK(ash_heap_alloc(shared, 10) != NULL); /* the releasing thread has a record of its own */
	made.count = released.count = 2;
	t = NOT_NULL(rt_thread_start(make_block, NULL));
	rt_barrier_wait(&made);
	CHECK(arenas_find(in_inner) == arena_of(inner));
	ash_heap_release(shared, block);
	CHECK(arenas_find(in_inner) == NULL);
	rt_barrier_wait(&released);
	rt_thread_join(t);
	CHECK_EQ(ash_heap_check(shared), 0);
	ash_heap_destroy(shared);
}
