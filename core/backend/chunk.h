/* SPDX-License-Identifier: MIT */
/*
 * Slab chunks: 64 units of 32 KiB, with one word of free bits.
 *
 *   region.free bit --claim--> set up --publish units = ~0--> slabs come and go
 *         ^                                                        |
 *         +------ return: CAS of units from ~0 to 0 <--------------+
 *
 * units is 0 in a chunk that is not a slab chunk, so a thread with a stale hint finds nothing to claim.
 */
#ifndef CORE_CHUNK_H
#define CORE_CHUNK_H

#include "backend/heap.h"
#include "backend/region.h"
#include "internal.h"

/* Returns true if the chunk record, as found by the map or a walk, is of this kind. */
static inline bool chunk_is(const struct chunk *c, enum chunk_kind kind)
{
	/* Pairs with the release store that publishes the kind: the other members are set. */
	return load_acquire(&c->kind) == (uint64_t)kind;
}

/*
 * Raises the chunk's hint (region.room) to at least `room` free units, where c->units was `word` at some time
 * before.  If room is ROOM_LONGEST, sets the hint to the longest run of free units, not higher.  Any thread
 * may call it.
 */
#define ROOM_LONGEST (CHUNK_UNITS + 1)
INTERNAL void chunk_hint(struct chunk *c, uint64_t word, unsigned room);

/* Makes a claimed chunk a slab chunk, all of whose units are free. */
INTERNAL void chunk_open(struct heap *h, struct run run, bool clean);

/*
 * Frees the units of the mask, which the caller holds; returns the chunk to its region if all are free now.
 */
INTERNAL void chunk_put(struct heap *h, struct chunk *c, uint64_t mask);

/*
 * Called after units became free, so that c->units was `word`: returns the chunk to its region if all units
 * are free, otherwise sets the hint (see chunk_hint for room).
 */
INTERNAL void chunk_settle(struct heap *h, struct chunk *c, uint64_t word, unsigned room);

/*
 * Completes the work of a vanished thread: sets the hint to free units, or returns a chunk that is entirely
 * free to its region.
 */
static inline void chunk_mend(struct heap *h, struct chunk *c)
{
	chunk_settle(h, c, load_seq_cst(&c->units), ROOM_LONGEST);
}

/* Purges the free dirty units of the chunk; returns the number of bytes purged. */
INTERNAL size_t chunk_purge(struct heap *h, struct chunk *c);

#endif
