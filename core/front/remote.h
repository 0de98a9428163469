/* SPDX-License-Identifier: MIT */
/* Releases that leave the fast path: slabs of other owners, unowned slabs, spans, events. */
#ifndef CORE_REMOTE_H
#define CORE_REMOTE_H

#include "internal.h"
#include "slab/slab.h"
#include "thread/owner.h"

/* Returns whether the slot has been released before and collected since, or was never handed out. */
static ALWAYS_INLINE bool remote_is_free(const struct slab *s, uint64_t index)
{
	return ((load_acquire(&s->free[index / GROUP_SLOTS]) >> (index % GROUP_SLOTS)) & 1) != 0;
}

/* The first part of remote_free: sets the remote bit.  Returns false if the slot was free already. */
static ALWAYS_INLINE bool remote_set(struct slab *s, uint64_t index)
{
	/*
	 * The slab cannot be unmade before the next line, because the block is still taken.  seq_cst pairs with the
	 * load in remote_is_notified: the remote bit is set before the pending bit is read.  The owner clears the
	 * pending bit before it reads the words (slab_collect), so one of the two sees the other.
	 */
	return !remote_is_free(s, index) && !set_bit_seq_cst(s->remote, index);
}

/*
 * The second part.  Returns true if no notification is needed, because the pending bit is set and the owner (the
 * slab's word, read before) is held by a thread.  Otherwise the caller calls remote_notify_slow.  From here on the slab
 * may be collected, unmade, even reused: later writes to the record are only hints, which are harmless to another
 * slab.
 */
static ALWAYS_INLINE bool remote_is_notified(const struct slab *s, uint64_t owner)
{
	const struct owner *o = (const struct owner *)(uintptr_t)(owner & ~OWNER_PENDING);

	return load_seq_cst(&s->owner) == (owner | OWNER_PENDING) &&
	       (load_seq_cst(&o->state) & OWNER_HELD) != 0;
}

/*
 * Sets the pending bit, and makes the inbox entry.  Returns the slab's owner record if no thread holds this record and
 * the group is now entirely free: then the caller must visit the slab (visit_slab).  Otherwise returns NULL.
 */
INTERNAL SLOW struct owner *remote_notify(struct slab *s, uint64_t group);

/* remote_notify, and visits a vacant record. */
INTERNAL SLOW void remote_notify_slow(struct slab *s, uint64_t group);

/*
 * Releases a slot of another owner's slab.  Returns false if the slot was free already.  Sets *vacant to the result of
 * remote_notify.
 */
static ALWAYS_INLINE bool remote_free(const struct slot_ref *at, struct owner **vacant)
{
	uint64_t owner = load_relaxed(&at->slab->owner);

	*vacant = NULL;
	if (!remote_set(at->slab, at->index))
		return false;
	if (unlikely(!remote_is_notified(at->slab, owner)))
		*vacant = remote_notify(at->slab, at->group);
	return true;
}

/*
 * Releases any block that the fast path leaves, also one of the caller's own slab: if its pending bit is set, or if the
 * seat is closed, because this call interrupted another one.  s is the result of map_guess_slab.
 */
INTERNAL SLOW void release_rest(void *p, struct slab *s);

/* Completes a release into the caller's own slab after which the group becomes ready or entirely free.  Opens the seat. */
INTERNAL SLOW void release_event(struct owner *o, struct slab *s, uint64_t group, uint64_t word);

#endif
