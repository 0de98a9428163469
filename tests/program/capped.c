/* SPDX-License-Identifier: MIT */
/* A heap that has reached its cap does not ask the system for addresses that the cap refuses. */
/* promises: ash_heap_alloc */
#include "ashlar_heap.h"
#include "pages.h"
#include "rt.h"
#include "support/wrap.h"

enum { CALLS = 100 };

static size_t asked;

WRAP(bool, pages_left, (size_t bytes, bool addresses_only))
{
	asked++;
	return __real_pages_left(bytes, addresses_only);
}

WRAP(bool, pages_are_locked, (void))
{
	asked++;
	return __real_pages_are_locked();
}

TEST(capped_heap_asks_for_no_addresses, 10)
{
	const struct ash_heap_options options = {.cap = 8 * MIB};
	ash_heap *heap = NOT_NULL(ash_heap_create(&options));
	void *p, *last = NULL;
	size_t i;

	while ((p = ash_heap_alloc(heap, 5000)) != NULL)
		last = p;
	CHECK(asked > 0); /* while it grew */
	asked = 0;
	for (i = 0; i < CALLS; i++)
		CHECK(ash_heap_alloc(heap, 5000) == NULL && ash_heap_alloc(heap, 3 * MIB) == NULL);
	CHECK_EQ(asked, 0);
	/* Memory that is free again is had again. */
	ash_heap_release(heap, last);
	CHECK(ash_heap_alloc(heap, 5000) != NULL);
	CHECK_EQ(ash_heap_check(heap), 0);
	ash_heap_destroy(heap);
}
