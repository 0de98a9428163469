/* SPDX-License-Identifier: MIT */
/*
 * Slab chunks: 64 units of 32 KiB, with one word of free bits.
 *
 *   region.free bit --claim--> set up --publish units = ~0--> slabs come and go
 *         ^                                                        |
 *         +------ return: CAS of units from ~0 to 0 <--------------+
 *
 * units is 0 in a chunk that is not a slab chunk, so a thread with a stale hint
 * finds nothing to claim.
 */
#ifndef CORE_CHUNK_H
#define CORE_CHUNK_H

#include "backend/heap.h"
#include "backend/region.h"
#include "internal.h"

/* True: the chunk record, as found by the map or a walk, is of this kind. */
static inline bool chunk_is(const struct chunk *c, enum chunk_kind kind)
{
	/* Pairs with the release store that publishes the kind: the other members are set. */
	return load_acquire(&c->kind) == (uint64_t)kind;
}

/*
 * Makes the hint (region.room) of the chunk large enough for a run of `room` free units, when c->units was `word`
 * at some time before.  ROOM_LONGEST: for its longest run, and not larger.  For any thread.
 */
#define ROOM_LONGEST (CHUNK_UNITS + 1)
INTERNAL void chunk_hint(struct chunk *c, uint64_t word, unsigned room);

/* Makes a claimed chunk a slab chunk, all of whose units are free. */
INTERNAL void chunk_open(struct heap *h, struct run run, bool clean);

/* Frees the units of the mask, which the caller holds; returns the chunk if all are free now. */
INTERNAL void chunk_put(struct heap *h, struct chunk *c, uint64_t mask);

/* After units became free, so that they are `word`: returns the chunk if all are, or makes the hint; room: see there. */
INTERNAL void chunk_settle(struct heap *h, struct chunk *c, uint64_t word, unsigned room);

/*
 * Completes what a vanished thread left undone: sets the hint to free units, or returns
 * a chunk that is entirely free.
 */
static inline void chunk_mend(struct heap *h, struct chunk *c)
{
	chunk_settle(h, c, load_seq_cst(&c->units), ROOM_LONGEST);
}

/* Purges the free dirty units of the chunk; returns the bytes purged. */
INTERNAL size_t chunk_purge(struct heap *h, struct chunk *c);

/*
 * Hardened products: compares the free units of each chunk with zero when slabs are in half as many chunks more than ever
 * before.  Some are too few for any slab that is wanted, and would rest unseen.
 */
HARDENED void chunks_compare(struct heap *h);

#endif
