/* SPDX-License-Identifier: MIT */
/* ash_heap_expand: another size in the same place. */
#include "arena/arena_call.h"
#include "backend/map.h"
#include "front/block.h"
#include "front/resize.h"
#include "heaps/instance.h"
#include "heaps/instance_block.h"
#include "heaps/instance_resize.h"

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
