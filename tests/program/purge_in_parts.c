/* SPDX-License-Identifier: MIT */
/*
 * Memory that may no longer stay is purged in parts, which are counted for each call, in bytes, and
 * in chunks that are looked at.  All memory that is due is purged in the end.
 */
/* promises: ash_release */
#include "backend/chunk.h"
#include "backend/retain.h"
#include "support/blocks.h"
#include "support/wrap.h"
#include "thread/owner.h"
#include "thread/seat.h"
#include "thread/settle.h"

#define PART ((size_t)8 << 20) /* as in retain.c */
#define LOOK ((size_t)16 << 10)

enum { KIB16 = 16 << 10, FEW = 96 << 6, /* of them: 96 MiB */ WIDE = 28 * UNIT_SIZE, MANY = 2400 };
static void *few[FEW], *many[MANY];

/* Nothing may stay, so that all is due, whatever is in use. */
const struct ash_defaults ash_defaults = {.initial = CHUNK_SIZE, .retain = 0};

/* By the call at hand, and the most by any. */
static size_t purged, most_purged, looked, most_looked, all_purged;

WRAP(bool, pages_purge, (void *p, size_t bytes, enum sharing sharing))
{
	purged += bytes;
	return __real_pages_purge(p, bytes, sharing);
}

WRAP(size_t, chunk_purge, (struct heap *h, struct chunk *c))
{
	looked++;
	return __real_chunk_purge(h, c);
}

static void call_ends(void)
{
	most_purged = purged > most_purged ? purged : most_purged;
	most_looked = looked > most_looked ? looked : most_looked;
	all_purged += purged;
	purged = looked = 0;
}

static void forget(void)
{
	purged = looked = most_purged = most_looked = all_purged = 0;
}

static void take_few(void)
{
	for (size_t i = 0; i < FEW; i++)
		CHECK((few[i] = ash_alloc(KIB16)) != NULL);
}

/* All of it stays at first, as if it had come again; then it is due. */
static void give_few(void)
{
	heap_default.floor = FEW;
	for (size_t i = 0; i < FEW; i++) {
		ash_release(few[i]);
		call_ends();
	}
	ash_release(ash_alloc(WIDE)); /* a spare from now on, so that a slow operation is one tick */
	call_ends();
	heap_default.floor = 0;
}

/* Slow operations that began while memory was due. */
static size_t operations_due;

/* Slow operations until a period has ended and the memory that was due is gone. */
static void go_on(void)
{
	operations_due = 0;
	for (size_t i = 0; i < 4 * RETAIN_PERIOD; i++) {
		operations_due += heap_default.due_at != 0;
		ash_release(ash_alloc(WIDE));
		call_ends();
	}
	CHECK_EQ(heap_default.due_at, 0);
}

TEST(due_in_parts, 30)
{
	take_few();
	forget();
	give_few();
	go_on();
	rt_print("     %zu KiB purged, %zu by a call at most\n", all_purged >> 10, most_purged >> 10);
	CHECK(most_purged >= PART / 2 && most_purged < PART + CHUNK_SIZE);
	CHECK(all_purged >= FEW * KIB16 - CHUNK_SIZE);
	CHECK(operations_due > 0 && operations_due <= all_purged / (PART / 2)); /* each purges a part */
	CHECK((size_t)heap_default.dirty <= 2 * CHUNK_UNITS); /* spares */
	CHECK_EQ(ash_check(), 0);
}

/* Chunks without dirty memory lie before it: of these, too, a call looks at a part. */
TEST(due_behind_many_chunks, 30)
{
	take_few();
	for (size_t i = 0; i < MANY; i++) /* two in a chunk, and eight clean units */
		CHECK((many[i] = ash_alloc(WIDE)) != NULL);
	forget();
	give_few();
	go_on();
	rt_print("     %zu KiB purged, %zu chunks looked at by a call at most\n", all_purged >> 10, most_looked);
	CHECK(most_looked >= PART / LOOK / 2 && most_looked <= PART / LOOK + 1);
	CHECK(most_purged >= PART / 2 && most_purged < PART + CHUNK_SIZE);
	CHECK(all_purged >= FEW * KIB16 - CHUNK_SIZE);
	release_each(many, MANY);
	CHECK_EQ(ash_check(), 0);
}

/* One call does not return all surplus spares when the heap gets so small that fewer may stay: each would purge a part. */
TEST(due_while_the_heap_gets_small, 30)
{
	size_t i;

	take_few();
	heap_default.floor = FEW;
	for (i = 0; i < FEW && (size_t)heap_default.used >= SPARE_FROM; i++)
		ash_release(few[i]);
	CHECK(seat.self->spare_units > SPARE_UNITS + 8 && (size_t)heap_default.dirty > 8 * CHUNK_UNITS);
	heap_default.floor = 0;
	heap_default.due_at = 1; /* `due` is 0: all of it is */
	forget();
	for (; i < FEW; i++) {
		ash_release(few[i]);
		call_ends();
	}
	rt_print("     %zu KiB purged, %zu by a call at most\n", all_purged >> 10, most_purged >> 10);
	CHECK(most_purged >= PART / 2 && most_purged < PART + CHUNK_SIZE);
	CHECK_EQ(heap_default.due_at, 0);
	CHECK_EQ(ash_check(), 0);
	alloc_each(few, 100, KIB16);
	for (i = 100; i-- > 0;)
		ash_release(few[i]);
	CHECK(seat.self->spare_units <= SPARE_UNITS);
}

