/* SPDX-License-Identifier: MIT */
/* Units of slab chunks: claiming and freeing them. */
#ifndef CORE_UNITS_H
#define CORE_UNITS_H

#include "backend/chunk.h"
#include "internal.h"

/* Two words, so that it is passed in registers. */
struct units {
	struct chunk *chunk; /* NULL: none */
	uint16_t first, count;
	bool clean;	     /* they read zero */
};

/*
 * `count` adjacent units (aligned if a power of two), from a new chunk only if
 * `grow`.  dense: the slabs will soon use all of such a chunk.
 */
INTERNAL struct units units_claim(struct heap *h, unsigned count, bool grow, bool dense);

/* Frees the units, as dirty, and returns the chunk if all its units are free now. */
INTERNAL void units_give(struct heap *h, struct units u);

static inline char *units_base(struct units u)
{
	return u.chunk->base + ((size_t)u.first << UNIT_SHIFT);
}

#endif
