/* SPDX-License-Identifier: MIT */
/*
 * Instances: heaps that the program creates, beside the default heap.  To the program an
 * instance is a handle (ash_heap *), which is the address of its struct heap, or of its
 * struct arena (arena.h).
 */
#ifndef CORE_INSTANCE_H
#define CORE_INSTANCE_H

#include "arena/arena_handle.h"
#include "ashlar_heap.h"
#include "backend/heap.h"
#include "base/misuse.h"
#include "shm/store.h"

struct chunk;

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
