/* SPDX-License-Identifier: MIT */
/*
 * Unowned slabs: slots for calls that have no owner record, in a signal handler that
 * interrupted another call or in a thread whose record could not be made.  All changes
 * are atomic read-modify-writes of bitmap words, so a call may itself be interrupted
 * at any instruction.  An unowned slab never gets an owner.
 *
 *   no slab, words 0 --CHANGING--> head set, then bits set --not CHANGING--> live
 *        ^                                                                    |
 *        +---- head cleared <---- all bits claimed by one thread <--CHANGING--+
 *
 * A thread may be suspended for any time while it has the slab's address.  So unowned
 * slabs have separate records, whose words change by read-modify-writes only, with
 * this invariant:
 *
 *   a free bit is set only while the slab exists: it is set after the slab is
 *   published, and a thread that unmakes the slab has claimed all bits before
 *
 * A thread that claims a bit, however late, therefore has a slot of the slab that exists
 * now, and the slab does not change until the bit is set again.  Only its class may
 * differ from the one that was searched for; it is checked after the claim.
 *
 * A thread that makes or unmakes a slab sets OWNER_CHANGING while it does: only one can, and
 * others neither count the slots that it holds as blocks nor allocate there.  If it
 * vanishes, in a child of fork or by a jump out of a handler, this one slab is leaked;
 * one of a process that died in a shared heap is recovered (store/recover/recover.h).
 */
#ifndef CORE_UNOWNED_H
#define CORE_UNOWNED_H

#include "internal.h"
#include "slab/slab.h"

/* A slot; NULL: no memory.  In a heap that processes share it is held (backend/hold.h) until the caller ends building. */
INTERNAL void *unowned_slot(struct heap *h, unsigned class);

/* A slot of an existing slab, without making one; NULL: none is free. */
INTERNAL void *unowned_rest(struct heap *h, unsigned class);

/*
 * Frees a slot.  False: it was free already.  A slab that is empty then is unmade,
 * except the one where the class's next search begins.
 */
INTERNAL bool unowned_free(struct slab *s, uint64_t index);

static inline bool unowned_exist(const struct heap *h)
{
	return load_relaxed(&h->unowned_made) != load_relaxed(&h->unowned_gone);
}

/* Returns the slab's units to the chunk if the slab is empty. */
INTERNAL bool unowned_unmake(struct heap *h, struct slab *s);

/*
 * Unmakes all empty unowned slabs; returns their number.  Its walk is over all chunks, also if there is none: it sets
 * their hints and returns those that are entirely free (chunk_mend).
 */
INTERNAL size_t unowned_shrink(struct heap *h);

#endif
