/* SPDX-License-Identifier: MIT */
/*
 * Instances: heaps that the program creates, beside the default heap.  To the program an
 * instance is a handle (ash_heap *), which is the address of its struct heap, or of its
 * struct arena (arena.h).
 */
#ifndef CORE_INSTANCE_H
#define CORE_INSTANCE_H

#include "ashlar_heap.h"
#include "arena/arena_handle.h"
#include "backend/heap.h"

static inline struct heap *heap_of(ash_heap *heap)
{
	return (struct heap *)(void *)heap;
}

static inline ash_heap *heap_public(struct heap *h)
{
	return (ash_heap *)(void *)h;
}

#endif
