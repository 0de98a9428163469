/* SPDX-License-Identifier: MIT */
/* Heaps that the program made. */
#ifndef CORE_INSTANCE_H
#define CORE_INSTANCE_H

#include "ashlar_heap.h"
#include "backend/heap.h"
#include "internal.h"

static inline struct heap *heap_of(ash_heap *heap)
{
	return (struct heap *)(void *)heap;
}

static inline ash_heap *heap_public(struct heap *h)
{
	return (ash_heap *)(void *)h;
}

/* The heap's options: those of the program, with this cap. */
INTERNAL void instance_configure(struct heap *h, size_t cap,
				 const struct ash_heap_options *options);

/* A block of h, or of the chunk's heap whichever that is. */
INTERNAL void *instance_alloc(struct heap *h, size_t size, size_t alignment, bool zero);
INTERNAL void *instance_resize(struct chunk *c, void *p, size_t size);
INTERNAL void instance_release(struct chunk *c, void *p);

INTERNAL_EXTERN const struct heap_hooks instance_hooks; /* instance_hooks.c */

#endif
