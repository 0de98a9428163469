/* SPDX-License-Identifier: MIT */
/*
 * Refilling a bin, the slow path of an allocation.  Sources, from the cheapest:
 *
 *   next group of the slab -> next slab of the partial list -> remote bits (collect.h)
 *   -> a new slab from free units -> slabs of vacant records (adopt.h) and of ended
 *   threads (reap.h) -> a larger heap -> all that is empty anywhere, made anew
 *
 * For the holder of the record, checked out.
 */
#ifndef CORE_REFILL_H
#define CORE_REFILL_H

#include "thread/owner.h"

/* Takes a slot of the class; NULL: out of memory.  *clean: the slot is known to read zero. */
void *refill_slot(struct owner *o, unsigned class, bool *clean);

/* Moves the bin of the class to a group with a free slot.  False: out of memory. */
bool refill_bin(struct owner *o, unsigned class);

#endif
