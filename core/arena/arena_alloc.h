/* SPDX-License-Identifier: MIT */
/* Blocks of an arena: taken, released. */
#ifndef CORE_ARENA_ALLOC_H
#define CORE_ARENA_ALLOC_H

#include "arena/arena.h"

/* NULL: no run of free granules is long enough.  alignment: a power of two. */
INTERNAL void *arena_alloc(struct arena *a, size_t size, size_t alignment);
/* False: p is not a block. */
INTERNAL bool arena_release(struct arena *a, void *p);

/* ---- of arena_alloc.c, for resizing ---- */

static inline size_t granules_for(size_t size)
{
	return size <= GRANULE ? 1 : (size + GRANULE - 1) / GRANULE;
}

/*
 * Frees a run that the caller holds, from its upper end downwards, so that a FURTHER
 * granule never follows a free one.
 */
INTERNAL void run_give(struct arena *a, size_t first, size_t n);
/* Takes n granules as FURTHERs of the block that ends before them; all or nothing. */
INTERNAL bool run_extend(struct arena *a, size_t first, size_t n);

#endif
