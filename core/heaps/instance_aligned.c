/* SPDX-License-Identifier: MIT */
/* Calls on a heap with an alignment, other than ash_heap_aligned_alloc. */
#include "arena/arena_call.h"
#include "backend/map.h"
#include "front/resize.h"
#include "front/span.h"
#include "heaps/instance.h"
#include "heaps/instance_alloc.h"
#include "heaps/instance_block.h"
#include "heaps/instance_resize.h"

void *ash_heap_aligned_zalloc(ash_heap *heap, size_t alignment, size_t size)
{
	return instance_alloc(heap_of(heap), size, alignment, true);
}

void *ash_heap_aligned_resize(ash_heap *heap, void *p, size_t alignment, size_t size)
{
	struct arena *a = arena_of(heap);

	if (a != NULL)
		return arena_call_resize(a, CALL_HEAP_ALIGNED_RESIZE, p, alignment, size);
	if (p == NULL)
		return ash_heap_aligned_alloc(heap, alignment, size);
	(void)instance_bytes(heap, CALL_HEAP_ALIGNED_RESIZE, p);
	if (!span_may_align(alignment) || size > PTRDIFF_MAX)
		return NULL;
	return instance_resize(map_find(p), p, size, alignment);
}

void ash_heap_release_aligned_sized(ash_heap *heap, void *p, size_t alignment, size_t size)
{
	struct arena *a = arena_of(heap);
	size_t have;

	if (a != NULL) {
		arena_call_release_as(a, CALL_HEAP_RELEASE_ALIGNED, p, alignment, size);
		return;
	}
	have = instance_bytes(heap, CALL_HEAP_RELEASE_ALIGNED, p);
	if (p == NULL)
		return;
	if (size > have)
		misuse_size(CALL_HEAP_RELEASE_ALIGNED, p, have);
	if (!bits_is_power(alignment) || !resize_may_stay(p, alignment))
		misuse_alignment(CALL_HEAP_RELEASE_ALIGNED, p, have);
	ash_heap_release(heap, p);
}
