/* SPDX-License-Identifier: MIT */
/* Common parts of the tests of unowned slabs. */
#ifndef TESTS_INNER_SLAB_UNOWNED_H
#define TESTS_INNER_SLAB_UNOWNED_H

#include "inner/slots.h"

#include "heaps/instance.h"
#include "heaps/seats.h"
#include "thread/seat.h"
#include "thread/seating.h"

enum { BLOCKS = 1 << 18 };

static void *blocks[BLOCKS];

/* Blocks by calls that find the thread's record in use, as a handler's do. */
static inline void burst(ash_heap *heap, size_t size, size_t n)
{
	struct seat_entry *t = NULL;
	struct owner *o = heap == NULL ? seat_take() : seats_take(heap_of(heap), &t);

	CHECK(o != NULL && n <= BLOCKS);
	for (size_t i = 0; i < n; i++)
		CHECK((blocks[i] = heap == NULL ? ash_alloc(size) : ash_heap_alloc(heap, size)) != NULL);
	CHECK((place_of(blocks[n - 1]).slab->owner & OWNER_UNOWNED) != 0);
	if (heap == NULL)
		seat_open();
	else
		seats_give(t, o);
}

/* Releases the blocks in an order in which slabs become empty late. */
static inline void release_all(size_t n)
{
	for (size_t step = 0; step < 97; step++)
		for (size_t i = step; i < n; i += 97)
			ash_release(blocks[i]);
}

static inline size_t fit(ash_heap *heap, size_t size)
{
	size_t n = 0;

	while (n < BLOCKS && (blocks[n] = ash_heap_alloc(heap, size)) != NULL)
		n++;
	for (size_t i = 0; i < n; i++)
		ash_heap_release(heap, blocks[i]);
	return n;
}

/* As many blocks fit as into a new heap. */
static inline void fits_as(ash_heap *heap, ash_heap *fresh)
{
	static const size_t sizes[] = {1000, 4096, CHUNK_SIZE, 256, 30000, UNIT_SIZE + 1, 8 * MIB};

	for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
		size_t n = fit(heap, sizes[i]), all = fit(fresh, sizes[i]);

		if (n != all)
			rt_print("     %zu of %zu blocks of %zu bytes\n", n, all, sizes[i]);
		CHECK_EQ(n, all);
		(void)ash_heap_trim(heap, 0);
		(void)ash_heap_trim(fresh, 0);
	}
	CHECK_EQ(ash_heap_check(heap), 0);
}

#endif
