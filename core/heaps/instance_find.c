/* SPDX-License-Identifier: MIT */
/* ash_heap_of: the heap of an address. */
#include "arena/arenas.h"
#include "backend/chunk.h"
#include "front/find.h"
#include "heaps/instance.h"

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
