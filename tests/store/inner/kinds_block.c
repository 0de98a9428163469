/* SPDX-License-Identifier: MIT */
#include "heaps/instance.h"
#include "store/recover/block_tags.h"
#include "support/blocks.h"

/* A slot and a span have at least so many bytes, and no more. */
TEST(kinds_block_has_its_bytes, 10)
{
	ash_heap *shared = ash_heap_create_shared(8 * MIB, NULL);
	size_t size;
	char *p, *q;

	CHECK(shared != NULL && (p = ash_heap_alloc(shared, 5000)) != NULL && (q = ash_heap_alloc(shared, 2 * MIB)) != NULL);
	size = ash_heap_usable_size(shared, p);
	CHECK(kinds_block(heap_of(shared), (uint64_t)(uintptr_t)p, size) && !kinds_block(heap_of(shared), (uint64_t)(uintptr_t)p, size + 1));
	size = ash_heap_usable_size(shared, q);
	CHECK(kinds_block(heap_of(shared), (uint64_t)(uintptr_t)q, size) && !kinds_block(heap_of(shared), (uint64_t)(uintptr_t)q, size + 1));
	ash_heap_destroy(shared);
}
