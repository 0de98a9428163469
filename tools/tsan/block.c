/* SPDX-License-Identifier: MIT */
/*
 * Blocks that are filled and checked, and the tables by which they pass from thread to thread.
 * Blocks are written and read by plain instructions; the exchange on a table orders them.
 */
#include "stress.h"

#include "../bench/random.h"

#include "ashlar.h"
#include "ashlar_heap.h"

#include <stdio.h>
#include <stdlib.h>

struct block *_Atomic table[TABLE];
struct ash_heap *_Atomic heap;
_Atomic uint64_t refused;

void fail(const char *what)
{
	fprintf(stderr, "FAIL tsan: %s\n", what);
	abort();
}

uint64_t below(uint64_t *state, uint64_t bound)
{
	/* Of a product: a low bit of xorshift is the sum of two of the number before, so a die after a die is known. */
	return (next_random(state) * UINT64_C(0x2545f4914f6cdd1d) >> 32) % bound;
}

/* Only some bytes of a large block: otherwise filling pages would take all the time. */
size_t step(size_t size)
{
	return size <= 4096 ? 8 : 4096 - 8;
}

struct block *fill(void *p, size_t size, uint64_t key)
{
	struct block *b = p;
	size_t i;

	if (p == NULL) {
		RELAXED_ADD(refused, 1);
		return NULL;
	}
	for (i = sizeof *b; i + 8 <= size; i += step(size))
		*(uint64_t *)((char *)p + i) = key + i;
	b->size = size;
	b->key = key;
	return b;
}

void check_up_to(const struct block *b, size_t size, size_t filled)
{
	size_t i;

	for (i = sizeof *b; i + 8 <= size; i += step(filled))
		if (*(const uint64_t *)((const char *)b + i) != b->key + i)
			fail("a block is not as it was filled");
}

void let_go(struct block *b)
{
	check_up_to(b, b->size, b->size);
	ash_release(b);
}

struct block *trade(struct block *b, struct block *_Atomic *place)
{
	/* Acquire and release: what a program must do to pass a block on. */
	b = atomic_exchange_explicit(place, b, memory_order_acq_rel);
	if (b != NULL)
		check_up_to(b, b->size, b->size);
	return b;
}
