/* SPDX-License-Identifier: MIT */
/*
 * Large slabs: slabs of one slot, for blocks above SLOT_LARGE.  They are never current in a
 * bin and never spares.  An empty one is cached in the record, one for each number of
 * units.
 *
 *   taken --> cached --> taken again, by a block of its class
 *                   \--> closed; its units are opened for a block of another class
 *                   \--> closed; its units go back to the chunk: a slab of that size is
 *                        cached after it, too much is cached, or the owner shrinks
 *
 * A cached slab stays on the full list; only owner.cached says that it is empty.  That is
 * a hint: a thread that takes the record over finds the slab by its bitmap.
 *
 * Only for the builds with malloc; elsewhere refill.h and settle.h serve these blocks, too.
 * All functions are for the holder of the record.
 */
#ifndef CORE_LARGE_H
#define CORE_LARGE_H

#include "internal.h"
#include "thread/owner.h"

/*
 * Takes a slot of a class above SLOT_LARGE: a cached slab, or one made of free units.
 * *clean: it is known to read zero.  NULL: refill_bin has to find one.
 */
INTERNAL void *large_take(struct owner *o, unsigned class, bool *clean);

/* Frees the only slot of the slab and caches the slab; instead of settle_freed. */
INTERNAL void large_freed(struct owner *o, struct slab *s);

/* Gives the units of all cached slabs back to their chunks. */
INTERNAL void large_flush(struct owner *o);

#endif
