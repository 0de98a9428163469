/* SPDX-License-Identifier: MIT */
#include "ashlar_heap.h"
#include "backend/map.h"
#include "backend/region.h"
#include "heaps/instance.h"
#include "rt.h"
#include "store/file/store.h"
#include "support/blocks.h"

/* In a file that others wrote, the thread that claimed a chunk clears its record: the next one may be another thread's. */
TEST(inner_records_of_others_are_left_alone, 10)
{
	ash_heap *heap = ash_heap_create_shared(16 * MIB, NULL);
	struct heap *h = heap_of(heap);
	unsigned char *next, *own;

	if (heap == NULL)
		rt_skip("no shared heaps here");
	h->records |= RECORDS_DOUBTED;
	own = (unsigned char *)region_chunk(h->regions, 0);
	next = (unsigned char *)region_chunk(h->regions, 1);
	CHECK(bits_unset(h->regions->known, 0, 2) == 2);
	memset(own, 0x5a, sizeof(struct chunk));
	memset(next, 0x5a, sizeof(struct chunk));
	CHECK(map_find(ash_heap_alloc(heap, 100)) == (void *)own);
	for (size_t i = 0; i < sizeof(struct chunk); i++)
		CHECK_EQ(next[i], 0x5a);
	CHECK_EQ(ash_heap_check(heap), 0);
	ash_heap_destroy(heap);
}
