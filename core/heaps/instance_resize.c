/* SPDX-License-Identifier: MIT */
#include "heaps/instance_resize.h"

#include "arena/arena_call.h"
#include "arena/arenas.h"
#include "backend/map.h"
#include "backend/retain.h"
#include "front/block.h"
#include "front/resize.h"
#include "front/span.h"
#include "heaps/instance.h"
#include "heaps/instance_alloc.h"
#include "heaps/instance_release.h"
#include "heaps/tagged.h"
#include "memory.h"
#include "shm/building.h"
#include "shm/seats.h"

/* Resizes a span in place.  False: not possible. */
static bool span_stays(struct heap *h, struct chunk *c, size_t size)
{
	struct building b = building_begin(h, seats_self(h));
	bool fits = span_fit(c, size > 0 ? size : 1);

	retain_tick(h, 1); /* the span may be smaller now */
	building_end(b);
	return fits;
}

void *instance_resize(struct chunk *c, void *p, size_t size, size_t alignment)
{
	bool in_place = alignment == RESIZE_IN_PLACE, stays = resize_may_stay(p, alignment);
	size_t have = chunk_block(c, p);
	struct heap *h = c->region->heap;
	void *moved;

	if (!in_place || size < have)
		arenas_gone_with(c, p);
	if (!span_is(c, p)) {
		if (in_place ? size <= have : stays && block_fits(have, size < alignment ? alignment : size))
			return p;
	} else if (in_place || class_aligned(size, alignment) == CLASSES) {
		if (stays && span_stays(h, c, size))
			return p;
		if (!in_place && store_shared(h) == NULL) {
			moved = span_resize(c, p, size > 0 ? size : 1, alignment);
			retain_tick(h, 1);
			if (moved != NULL)
				return moved; /* else once more, after empty slabs were gathered */
		}
	}
	if (in_place)
		return NULL;
	moved = instance_alloc(h, size, alignment, false);
	if (moved != NULL && !tagged_carry(c, p, moved)) {
		instance_release(map_find(moved), moved);
		moved = NULL;
	}
	if (moved == NULL)
		return stays && size <= have ? p : NULL; /* a smaller block needs no memory */
	memcpy(moved, p, size < have ? size : have);
	instance_release(c, p);
	return moved;
}

void *ash_heap_resize(ash_heap *heap, void *p, size_t size)
{
	struct arena *a = arena_of(heap);

	if (a != NULL)
		return arena_call_resize(a, CALL_HEAP_RESIZE, p, 1, size);
	if (p == NULL)
		return ash_heap_alloc(heap, size);
	(void)instance_bytes(heap, CALL_HEAP_RESIZE, p);
	return size > PTRDIFF_MAX ? NULL : instance_resize(map_find(p), p, size, 1);
}

size_t ash_heap_expand(ash_heap *heap, void *p, size_t size)
{
	struct arena *a = arena_of(heap);
	struct chunk *c;

	if (a != NULL)
		return arena_call_expand(a, p, size);
	(void)instance_bytes(heap, CALL_HEAP_EXPAND, p);
	if (p == NULL || size > PTRDIFF_MAX)
		return 0;
	c = map_find(p);
	return instance_resize(c, p, size, RESIZE_IN_PLACE) != NULL ? chunk_block(c, p) : 0;
}

/* ---- with an alignment, other than ash_heap_aligned_alloc ---- */

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
