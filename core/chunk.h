/* SPDX-License-Identifier: MIT */
/*
 * Slab chunks: 64 units of 32 KiB, one word of free bits.
 *
 *   region.free bit --claim--> set up --publish units = ~0--> slabs come and go
 *         ^                                                        |
 *         +------ return: swap units from ~0 to 0 <----------------+
 *
 * units is 0 wherever the chunk is not a slab chunk, so that a thread which
 * comes late with an old hint finds nothing to take.
 */
#ifndef CORE_CHUNK_H
#define CORE_CHUNK_H

#include "heap.h"

struct units {
	struct chunk *chunk; /* NULL: none */
	unsigned first, count;
	bool clean;	     /* they read zero */
};

/*
 * `count` units in a row (aligned if a power of two); from a new chunk only if
 * `grow`.  dense: such a chunk will be full before long.
 */
struct units units_claim(struct heap *h, unsigned count, bool grow, bool dense);

/* Gives them back, dirty; the chunk too, if that was the last of it. */
void units_give(struct heap *h, struct units u);

static inline char *units_base(struct units u)
{
	return u.chunk->base + ((size_t)u.first << UNIT_SHIFT);
}

/* Purges the free dirty units of the chunk; the bytes given back. */
size_t chunk_purge(struct heap *h, struct chunk *c);

/* The record of a slab chunk or of a span's first chunk, as the map or a walk finds it. */
static inline bool chunk_is(const struct chunk *c, enum chunk_kind kind)
{
	/* Pairs with the release that publishes the kind: the rest is set. */
	return load_acquire(&c->kind) == (uint64_t)kind;
}

#endif
