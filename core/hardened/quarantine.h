/* SPDX-License-Identifier: MIT */
/*
 * A released block of a slot is not free yet: the block waits in the quarantine of its releaser's record, by class.
 *
 *   release:  check, clear  -->  [places, filled in turn]  -->  the block that had this place becomes free
 *
 * For the bitmaps the slot is taken.  The block waits until its thread has released at least half as many other
 * blocks of this class as there are places.  If the thread ends without detach, the record keeps the quarantine for
 * the next thread that takes the record.  A handler that leaves the exchange by a jump, and a fork in the exchange
 * (in the child), lose at most one slot.
 */
#ifndef CORE_QUARANTINE_H
#define CORE_QUARANTINE_H

#include "base/bits.h"
#include "internal.h"
#include "thread/owner.h"

/*
 * Puts a block into the thread's quarantine if the thread can have a quarantine.  Returns the block that becomes free
 * instead, or NULL.  The seat is open.
 */
INTERNAL void *quarantine_exchange(void *p, unsigned class);

/* Reports the misuse if a block was written that may rest in the record's quarantine for long.  For the holder. */
INTERNAL void quarantine_compare(const struct owner *o, unsigned class);

#endif
