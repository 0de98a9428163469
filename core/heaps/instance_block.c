/* SPDX-License-Identifier: MIT */
#include "heaps/instance_block.h"

#include "arena/arena_call.h"
#include "arena/arena_handle.h"
#include "backend/map.h"
#include "front/block.h"
#include "front/diagnose.h"
#include "front/slot.h"
#include "heaps/instance.h"

struct chunk *instance_chunk(ash_heap *heap, const char *call, const void *p)
{
	struct chunk *c = map_find(p);

	if (c == NULL || c->region->heap != heap_of(heap))
		misuse_heap(call, p);
	return c;
}

size_t instance_bytes(ash_heap *heap, const char *call, const void *p)
{
	struct arena *a = arena_of(heap);
	size_t bytes;

	if (a != NULL)
		return arena_call_bytes(a, call, p);
	if (p == NULL)
		return 0;
	bytes = chunk_block(instance_chunk(heap, call, p), p);
	if (bytes == 0)
		diagnose(call, p);
	return bytes;
}

size_t ash_heap_usable_size(ash_heap *heap, const void *p)
{
	return instance_bytes(heap, CALL_HEAP_USABLE_SIZE, p);
}
