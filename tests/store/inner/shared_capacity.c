/* SPDX-License-Identifier: MIT */
/* promises: ash_heap_create_shared */
#include "support/blocks.h"

/* Addresses for the records of a shared heap: up to a sixth of its own, and what records of threads take. */
TEST(heap_shared_capacity, 20)
{
	struct ash_heap_options options = {.address = (size_t)1 << 45 | 4096};
	size_t records = 0;

	CHECK(ash_heap_create_shared(0, NULL) == NULL);
	CHECK(ash_heap_create_shared(MIB, &options) == NULL);
	for (size_t capacity = 1; capacity <= (rt_under_qemu() ? MIB : 1024 * MIB); capacity *= 16) {
		size_t before = rt_address_space(), whole = (capacity + 2 * MIB - 1) & ~(2 * MIB - 1);
		ash_heap *h = ash_heap_create_shared(capacity, NULL);

		CHECK(h != NULL);
		CHECK_EQ(stats_of(h).reserved, whole);
		if (records == 0)
			records = rt_address_space() - before - whole;
		if (!rt_under_qemu()) /* there the figure is the emulator's */
			CHECK(records <= 264 * MIB && rt_address_space() - before <= records + whole + whole / 6);
		ash_heap_destroy(h);
	}
}
