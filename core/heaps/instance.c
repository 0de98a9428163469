/* SPDX-License-Identifier: MIT */
#include "heaps/instance.h"

#include "arena/arena.h"
#include "arena/arena_call.h"
#include "backend/map.h"
#include "front/block.h"
#include "front/diagnose.h"

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

/* Arenas first, as their memory may be a block of any heap. */
ash_heap *ash_heap_of(const void *p)
{
	struct arena *a = arenas_find(p);
	struct found f;
	struct heap *h;

	if (a != NULL)
		return (ash_heap *)(void *)a;
	find_address(p, &f);
	if (f.chunk == NULL)
		return NULL;
	h = load_relaxed(&f.chunk->region)->heap;
	return h == &heap_default ? NULL : heap_public(h);
}
