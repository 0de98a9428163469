/* SPDX-License-Identifier: MIT */
/* A shared heap that lost memory, for tests of the search for it. */
#ifndef TESTS_STORE_INNER_LOST_H
#define TESTS_STORE_INNER_LOST_H

#include "base/bits.h"

#include "store/inner/shared.h" /* last: its names are short */

static char *block;

static inline void set_up(void)
{
	shared_make(16 * MIB);
	block = NOT_NULL(ash_heap_alloc(heap, 9000));
}

/* Counts a death while building. */
static inline void lose(void)
{
	CHECK(ash_heap_check(heap) == 0 || store_lost(store) == 0);
	store->deaths++;
}

/* Takes a free unit of the block's chunk, as a thread that dies before it has made a slab there. */
static inline uint64_t lose_unit(void)
{
	struct chunk *c = map_find(block);
	uint64_t bit = bits_lowest(c->units);

	bit = (uint64_t)1 << bit;
	CHECK((c->units & bit) != 0);
	c->units &= ~bit;
	lose();
	return bit;
}

#endif
