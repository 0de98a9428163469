/* SPDX-License-Identifier: MIT */
/*
 * Unowned slabs: slots for calls that have no owner record, in a signal handler that interrupted another call
 * or in a thread whose record could not be made.  All changes are atomic read-modify-writes of bitmap words,
 * so a call may itself be interrupted at any instruction.  An unowned slab never gets an owner.
 *
 *   no slab, words 0 --CHANGING--> head set, then bits set --not CHANGING--> live
 *        ^                                                                    |
 *        +---- head cleared <---- all bits claimed by one thread <--CHANGING--+
 *
 * A thread may be suspended for any time while it has the slab's address.  So unowned slabs have separate
 * records, whose words change by read-modify-writes only, with this invariant:
 *
 *   a free bit is set only while the slab exists: it is set after the slab is
 *   published, and a thread that unmakes the slab has claimed all bits before
 *
 * Therefore a thread that claims a bit, however late, has a slot of the slab that exists now, and the slab
 * does not change until the bit is set again.  Only the class of the slab may differ from the class that was
 * searched for; it is checked after the claim.
 *
 * A thread that makes or unmakes a slab sets OWNER_CHANGING while it does: only one thread can, and other
 * threads neither count the slots that it holds as blocks nor allocate there.  If that thread vanishes, in a
 * child of fork or by a jump out of a handler, this one slab is leaked; a slab of a process that died in a
 * shared heap is recovered (ash_heap_recover).
 */
#ifndef CORE_UNOWNED_H
#define CORE_UNOWNED_H

#include "internal.h"
#include "slab/slab.h"

/*
 * Allocates a slot; returns NULL if there is no memory.  In a heap that processes share the slot is held
 * (backend/hold.h) until the caller ends building.
 */
INTERNAL void *unowned_slot(struct heap *h, unsigned class);

/* Allocates a slot of an existing slab; returns NULL if no slot is free. */
INTERNAL void *unowned_rest(struct heap *h, unsigned class);

/*
 * Frees a slot; returns false if the slot was free already.  A slab that becomes empty is unmade, unless the
 * class's next search begins there.
 */
INTERNAL bool unowned_free(struct slab *s, uint64_t index);

static inline bool unowned_exist(const struct heap *h)
{
	return load_relaxed(&h->unowned_made) != load_relaxed(&h->unowned_gone);
}

/* Returns the slab's units to the chunk if the slab is empty. */
INTERNAL bool unowned_unmake(struct heap *h, struct slab *s);

/*
 * Unmakes all empty unowned slabs; returns their number.  Walks over all chunks even if there are no such
 * slabs: the walk sets their hints and returns the chunks that are entirely free to their regions
 * (chunk_mend).
 */
INTERNAL size_t unowned_shrink(struct heap *h);

#endif
