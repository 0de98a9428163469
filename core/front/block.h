/* SPDX-License-Identifier: MIT */
/* The size of the block that a pointer names. */
#ifndef CORE_BLOCK_H
#define CORE_BLOCK_H

#include "backend/chunk.h"
#include "backend/map.h"
#include "base/misuse.h"
#include "front/slot.h"
#include "internal.h"

/* Returns the usable bytes of the live block at p in this chunk, or 0 if there is no such block or c is NULL. */
INTERNAL size_t chunk_block(const struct chunk *c, const void *p);

/*
 * For hardened products: returns the bytes of the slot or span of a guarded block of the default heap.  Returns 0 if
 * p is no such block or is of another heap, which the ordinary call then reports.
 */
static ALWAYS_INLINE size_t block_guarded(const void *p)
{
	struct chunk *c;
	uint64_t index;
	struct slab *s;

	if (likely(own_slot(p, &s, &index)) &&
	    likely((load_relaxed(&s->free[index / GROUP_SLOTS]) >> index % GROUP_SLOTS & 1) == 0))
		return s->slot_size;
	c = map_find(p);
	return c == NULL || chunk_heap(c) != &heap_default ? 0 : chunk_block(c, p);
}

/* Returns the usable bytes of a live block, or 0 for NULL.  Any other pointer is misuse by `call`. */
INTERNAL size_t block_bytes(const char *call, const void *p);

#endif
