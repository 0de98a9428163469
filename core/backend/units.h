/* SPDX-License-Identifier: MIT */
/* Units of slab chunks: claiming and freeing them. */
#ifndef CORE_UNITS_H
#define CORE_UNITS_H

#include "backend/chunk.h"
#include "internal.h"

/* Two words, so that it is passed in registers. */
struct units {
	struct chunk *chunk; /* NULL: no units */
	uint16_t first, count;
	bool clean;	     /* they read zero */
};

/* Packs a request: `count` adjacent units for a slab of this class, which may need them aligned. */
static inline unsigned units_for(unsigned class, unsigned count)
{
	return count | class << 8;
}

static inline unsigned units_count(unsigned want)
{
	return want & 0x7f;
}

static inline unsigned units_class(unsigned want)
{
	return want >> 8;
}

/*
 * Claims units.  Takes them from a new chunk only if `grow`.  `dense` tells that the slabs will soon use all
 * of such a chunk.
 *
 * In a heap above some 16 MiB large slabs prefer later regions, so that other slabs are close together in the
 * first regions.  Large blocks are often written only in part, and their untouched part is not resident as
 * long as no other slab was there.
 */
INTERNAL struct units units_claim(struct heap *h, unsigned want, bool grow, bool dense);

/*
 * Claims the units behind these, which the caller holds, so that they are n (at least their present number).
 * Returns false if some of them are not free.  For heaps of one process: nothing is held (hold.h).
 */
INTERNAL bool units_extend(struct heap *h, struct units u, unsigned n);

/* Frees the units, as dirty, and returns the chunk to its region if all its units are free now. */
INTERNAL void units_give(struct heap *h, struct units u);

static inline char *units_base(struct units u)
{
	return u.chunk->base + ((size_t)u.first << UNIT_SHIFT);
}

#endif
