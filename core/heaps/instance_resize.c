/* SPDX-License-Identifier: MIT */
#include "heaps/instance_resize.h"

#include "arena/arena_alloc.h"
#include "arena/arenas.h"
#include "backend/map.h"
#include "backend/retain.h"
#include "front/block.h"
#include "front/resize.h"
#include "front/slot.h"
#include "front/span.h"
#include "heaps/instance.h"
#include "heaps/instance_alloc.h"
#include "heaps/instance_block.h"
#include "heaps/instance_release.h"
#include "memory.h"
#include "shm/building.h"
#include "shm/seats.h"

void *instance_resize(struct chunk *c, void *p, size_t size)
{
	struct heap *h = c->region->heap;
	size_t have = chunk_block(c, p);
	bool fits;
	void *moved;

	arenas_gone_with(c, p);
	if (h->sharing == PAGES_PRIVATE && span_is(c, p) && size > SLOT_MAX) {
		moved = span_resize(c, p, size);
		(void)retain_tick(h, 1); /* the span may be smaller now */
		return moved;
	}
	if (span_is(c, p) && size > SLOT_MAX) {
		struct building b = building_begin(h, seats_self(h));

		fits = span_fit(c, size);
		(void)retain_tick(h, 1);
		building_end(b);
	} else {
		fits = !span_is(c, p) && block_fits(have, size);
	}
	if (fits)
		return p;
	moved = instance_alloc(h, size, 1, false);
	if (moved == NULL)
		return size <= have ? p : NULL; /* a smaller block needs no memory */
	memcpy(moved, p, size < have ? size : have);
	instance_release(c, p);
	return moved;
}

void *ash_heap_resize(ash_heap *heap, void *p, size_t size)
{
	struct arena *a = arena_of(heap);

	if (p == NULL)
		return ash_heap_alloc(heap, size);
	(void)instance_bytes(heap, CALL_HEAP_RESIZE, p);
	if (size > PTRDIFF_MAX)
		return NULL;
	return a != NULL ? arena_resize(a, p, size) : instance_resize(map_find(p), p, size);
}
