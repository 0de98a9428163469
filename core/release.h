/* SPDX-License-Identifier: MIT */
/* From a pointer to what it is. */
#ifndef CORE_RELEASE_H
#define CORE_RELEASE_H

#include "misuse.h"
#include "owner.h"

/* The slot that starts at p in a slab of this chunk; false: there is none. */
bool place_find(const struct chunk *c, const void *p, struct place *at);
bool place_is_taken(const struct place *at);

/*
 * Into another owner's slab.  False: it was free already.  *vacant: NULL, or a
 * record without a thread, which the caller must visit (owner_visit).
 */
bool remote_free(const struct place *at, struct owner **vacant);

/* Its first part.  False: the slot was free already. */
static inline bool remote_set(struct slab *s, uint64_t index)
{
	/*
	 * The block is ours until the next line, so the slab is what it seems.
	 * Ordered, as the load in remote_is_told: first the word, then the mark, as
	 * the owner clears first the mark and then reads the words (slab_collect).
	 */
	return ((load_acquire(&s->free[index / GROUP_SLOTS]) >> (index % GROUP_SLOTS)) & 1) == 0 &&
	       !set_bit_ordered(s->remote, index);
}

/*
 * From here on the slab may be collected, emptied, even made anew: what is done
 * to it now are hints that hurt no other slab.
 */
static inline bool remote_is_told(const struct slab *s)
{
	return (load_ordered(&s->owner) & OWNER_PENDING) != 0;
}

/* The mark and the letter; the same record as remote_free has, or NULL. */
struct owner *remote_tell(struct slab *s);

/* Usable bytes of the live block at p in this chunk; 0: there is none, or c is NULL. */
size_t chunk_block(const struct chunk *c, const void *p);

/* Usable bytes of a live block, 0 for NULL; anything else is misuse by `call`. */
size_t block_bytes(enum call call, const void *p);

/* A block of `have` bytes can stay where it is when it gets this size. */
bool block_fits(size_t have, size_t size);

#endif
