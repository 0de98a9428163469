/* SPDX-License-Identifier: MIT */
/*
 * Shrinking: the empty slabs of a record go back to the heap, and its bins detach their
 * slabs, so that slots of older slabs are taken first.
 */
#ifndef CORE_SHRINK_H
#define CORE_SHRINK_H

#include "internal.h"
#include "thread/owner.h"

/*
 * Visits the slabs of the record's lists: collects from each, unmakes it if it is empty, and
 * detaches the bin of its class; first unmakes the cached ones.  For the holder.
 *
 * left   so many slabs at most, as a turn: the next one goes on with the next list, and each slab
 *        that was visited goes to the end of its own.  ALL: all slabs, once
 *
 * A turn is due before the heap grows (refill_bin): a chunk has as many units, so growth pays
 * for it, whatever the heap has.
 */
#define SHRINK_TURN 64
#define SHRINK_ALL  UINT32_MAX
INTERNAL void shrink_lists(struct owner *o, unsigned left);

/* Visits one slab of the record, current or not, cached or not, in the same way. */
INTERNAL void shrink_slab(struct owner *o, struct slab *s);

/*
 * Detaches all bins and unmakes the slabs that are empty then, and the cached ones.  Others are
 * unmade when they become empty (settle.h); so the lists are not walked, and what this takes does
 * not depend on the number of slabs.  For the holder.
 */
INTERNAL void shrink_owner(struct owner *o);

/*
 * The same before a thread of the default heap leaves its record, and collects from the inbox; but
 * slabs in use stay current, so that the next thread goes on with them on its fast path.
 */
INTERNAL void shrink_in_place(struct owner *o);

/* Collects from the inbox and shrinks.  For a holder that is about to vacate. */
INTERNAL void shrink_before_vacate(struct owner *o);

#endif
