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

#include "backend/heap.h"
#include "backend/region.h"

/* The record of a slab chunk or of a span's first chunk, as the map or a walk finds it. */
static inline bool chunk_is(const struct chunk *c, enum chunk_kind kind)
{
	/* Pairs with the release that publishes the kind: the rest is set. */
	return load_acquire(&c->kind) == (uint64_t)kind;
}

/* The hint that the chunk may have free units. */
void chunk_hint(struct chunk *c, bool partial);

/* Free chunks of the run become a slab chunk, all of whose units are free. */
struct chunk *chunk_open(struct heap *h, struct run run, bool clean);

/* Units of the mask, which the caller holds, are free again; the chunk goes back if that was the last of it. */
void chunk_put(struct heap *h, struct chunk *c, uint64_t mask);

/*
 * Does what somebody who vanished has left undone: the hint to free units, the way
 * back of a chunk that is free throughout.
 */
void chunk_mend(struct heap *h, struct chunk *c);

/* Purges the free dirty units of the chunk; the bytes given back. */
size_t chunk_purge(struct heap *h, struct chunk *c);

#endif
