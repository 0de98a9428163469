/* SPDX-License-Identifier: MIT */
/*
 * Instances: heaps that the program creates, beside the default heap.  To the program an
 * instance is a handle (ash_heap *), which is the address of its struct heap, or of its
 * struct arena (arena.h).
 */
#ifndef CORE_INSTANCE_H
#define CORE_INSTANCE_H

#include "arena/arena.h"
#include "ashlar_heap.h"
#include "backend/heap.h"
#include "base/misuse.h"
#include "shm/store.h"

struct chunk;

/* An arena's id is 0, which no heap with seats has: so no fast path accepts an arena. */
_Static_assert(offsetof(struct arena, sharing) == offsetof(struct heap, sharing) &&
		       offsetof(struct arena, id) == offsetof(struct heap, id),
	       "one load distinguishes arenas from other heaps");

/* The arena that the handle stands for; NULL: it is a heap of another kind. */
static inline struct arena *arena_of(ash_heap *heap)
{
	const char *at = (const char *)heap + offsetof(struct heap, sharing);
	/* The member has this type in both structures. */
	enum sharing sharing = *(const enum sharing *)(const void *)at;

	if (likely(sharing < PAGES_CALLERS))
		return NULL;
	if (unlikely(sharing == PAGES_GONE))
		misuse_report(CALL_HEAP_ANY, heap, "heap already destroyed", NULL, 0);
	return (struct arena *)(void *)heap;
}

static inline struct heap *heap_of(ash_heap *heap)
{
	return (struct heap *)(void *)heap;
}

static inline ash_heap *heap_public(struct heap *h)
{
	return (ash_heap *)(void *)h;
}

/* The store of a heap that processes share; NULL: a heap of this process, or an arena. */
static inline struct store *store_behind(ash_heap *heap)
{
	return arena_of(heap) != NULL ? NULL : store_shared(heap_of(heap));
}

/* The block that a program names in a call on a heap; a pointer that is none is misuse. */

/* The chunk of a block, which must belong to the heap, no arena. */
INTERNAL struct chunk *instance_chunk(ash_heap *heap, const char *call, const void *p);
/* Bytes of a block, which must belong to the heap; 0 for NULL. */
INTERNAL size_t instance_bytes(ash_heap *heap, const char *call, const void *p);

#endif
