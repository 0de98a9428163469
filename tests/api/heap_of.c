/* SPDX-License-Identifier: MIT */
/* The heap of an address at which there is no block; tests/api/heap_aligned.c asks for blocks. */
/* promises: ash_heap_of */
#include "ashlar_heap.h"
#include "rt.h"

/* The chunk behind a span was one of another span, and is free. */
TEST(heap_of_no_block, 10)
{
	enum { BLOCKS = 8 };
	ash_heap *own = ash_heap_create(NULL);
	char *p[BLOCKS];
	unsigned i, pairs = 0;

	for (i = 0; i < BLOCKS; i++)
		CHECK((p[i] = ash_heap_alloc(own, 4 * MIB)) != NULL);
	for (i = 1; i < BLOCKS; i++)
		if (p[i] == p[i - 1] + 4 * MIB) {
			pairs++;
			ash_heap_release(own, p[i]);
			CHECK(ash_heap_of(p[i] - 1) == own && ash_heap_of(p[i]) == NULL);
			break;
		}
	CHECK_EQ(pairs, 1);
	ash_heap_destroy(own);
}
