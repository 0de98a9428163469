/* SPDX-License-Identifier: MIT */
/* From a pointer to what it is. */
#ifndef CORE_RELEASE_H
#define CORE_RELEASE_H

#include "base/misuse.h"
#include "thread/owner.h"
#include "thread/seat.h"

/* The slot that starts at p in a slab of this chunk; false: there is none. */
bool slot_find(const struct chunk *c, const void *p, struct slot_ref *at);
bool slot_is_taken(const struct slot_ref *at);

/*
 * Into another owner's slab.  False: it was free already.  *vacant: NULL, or a
 * record without a thread, whose slab may be empty now, for all that its inbox
 * tells: the caller must visit it (owner_visit).
 */
bool remote_free(const struct slot_ref *at, struct owner **vacant);

/* Its first part.  False: the slot was free already. */
static ALWAYS_INLINE bool remote_set(struct slab *s, uint64_t index)
{
	/*
	 * The block is ours until the next line, so the slab is what it seems.
	 * Ordered, as the load in remote_is_notified: first the word, then the mark, as
	 * the owner clears first the mark and then reads the words (slab_collect).
	 */
	return ((load_acquire(&s->free[index / GROUP_SLOTS]) >> (index % GROUP_SLOTS)) & 1) == 0 &&
	       !set_bit_seq_cst(s->remote, index);
}

/*
 * Its second part: nothing more is to be done, as the slab has its mark, and
 * its owner (its word, read before) a thread; else remote_notify_slow.  From here on
 * the slab may be collected, emptied, even made anew: what is done to it now are
 * hints that hurt no other slab.
 */
static ALWAYS_INLINE bool remote_is_notified(const struct slab *s, uint64_t owner)
{
	const struct owner *o = (const struct owner *)(uintptr_t)(owner & ~OWNER_PENDING);

	return load_seq_cst(&s->owner) == (owner | OWNER_PENDING) &&
	       load_seq_cst(&o->state) != OWNER_VACANT;
}

/* The mark and the letter; what remote_free has in *vacant. */
struct owner *remote_notify(struct slab *s, uint64_t group);

/* The same, and the visit. */
SLOW void remote_notify_slow(struct slab *s, uint64_t group);

/* Everything but a block of one's own slab; s: what map_guess_slab gave. */
SLOW void release_rest(void *p, struct slab *s);

/*
 * What seldom happens to a block of one's own slab: the group was not ready, or
 * got free throughout.  Opens the seat.
 */
SLOW void release_event(struct owner *o, struct slab *s, uint64_t group, uint64_t word);

/* Usable bytes of the live block at p in this chunk; 0: there is none, or c is NULL. */
size_t chunk_block(const struct chunk *c, const void *p);

/* Usable bytes of a live block, 0 for NULL; anything else is misuse by `call`. */
size_t block_bytes(enum call call, const void *p);

/*
 * The slot of a pointer, if it is one of the caller's own slab and the seat is
 * open.  *s is what the map led to, whatever the answer.
 *
 * The comparison of owners tells four things at once: the slab is ours, it is
 * not shared, no remote bits wait in it (they might be this slot's), and we
 * did not interrupt another call of this thread.
 */
static ALWAYS_INLINE bool own_slot(const void *p, struct slab **s, uint64_t *index)
{
	*s = map_guess_slab(p);
	if (unlikely(*s == NULL) ||
	    unlikely(load_relaxed(&(*s)->owner) != (uint64_t)(uintptr_t)seat.self))
		return false;
	/* A closed seat is one more reciprocal of 0, which rejects every pointer. */
	return slab_index_by(*s, p, (*s)->reciprocal & seat.open, index);
}

/* A block of `have` bytes can stay where it is when it gets this size. */
bool block_fits(size_t have, size_t size);

#endif
