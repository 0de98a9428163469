/* SPDX-License-Identifier: MIT */
/*
 * Refilling a bin, the slow path of an allocation.  Sources, from the cheapest:
 *
 *   the next group of the current slab
 *   a slab of the partial list, after the inbox if that list is empty or begins with a spare
 *   a new slab from units that are free
 *   slabs of vacant records (adopt.h) and of ended threads (reap.h)
 *   a new slab from a chunk that the heap grows by; after a look at some slabs (shrink_turn)
 *   out of memory: the units of empty slabs in all vacant records, and of unowned slabs
 *
 * All functions are for the holder of the record.
 */
#ifndef CORE_REFILL_H
#define CORE_REFILL_H

#include "internal.h"
#include "thread/owner.h"

/* Takes a slot of the class; NULL: out of memory.  *clean: the slot is known to read zero. */
INTERNAL void *refill_slot(struct owner *o, unsigned class, bool *clean);

/* Moves the bin of the class to a group with a free slot.  False: out of memory. */
INTERNAL bool refill_bin(struct owner *o, unsigned class);

#endif
