/* SPDX-License-Identifier: MIT */
/* The size of the block that a pointer names. */
#ifndef CORE_BLOCK_H
#define CORE_BLOCK_H

#include "backend/chunk.h"
#include "backend/map.h"
#include "base/misuse.h"
#include "front/slot.h"
#include "internal.h"

/* Usable bytes of the live block at p in this chunk; 0: there is none, or c is NULL. */
INTERNAL size_t chunk_block(const struct chunk *c, const void *p);

/*
 * Hardened products: the bytes of the slot or span of a block of the default heap, which is guarded.  0: p is none, or
 * another heap's, as the ordinary call says.
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

/* Usable bytes of a live block, 0 for NULL; anything else is misuse by `call`. */
INTERNAL size_t block_bytes(const char *call, const void *p);

#endif
