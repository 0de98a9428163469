/* SPDX-License-Identifier: MIT */
/*
 * Bins: the current slab of a class and the group of it that slots are taken from.  And the spares.
 *
 *   list --bin_take--> current, group after group --bin_detach--> list
 *
 * All functions are for the holder of the record.
 */
#ifndef CORE_BIN_H
#define CORE_BIN_H

#include "internal.h"
#include "thread/owner.h"

/* The lowest slot that is free by the word of the bin's group, which is not 0. */
static ALWAYS_INLINE char *bin_lowest(const struct bin *b, uint64_t word)
{
	return b->base + cpu_lowest_bit(word) * b->size;
}

/* Takes the lowest slot of the bin's group; NULL: none is free.  *clean: as in refill_slot. */
static ALWAYS_INLINE void *bin_slot(struct owner *o, const struct bin *b, bool *clean)
{
	uint64_t *at = bin_word(o, b), word = load_relaxed(at);
	char *p;

	if (unlikely(word == 0))
		return NULL;
	*clean = ((b->slab->dirty >> (at - b->slab->free)) & 1) == 0;
	p = bin_lowest(b, word);
	store_relaxed(at, bits_without_lowest(word));
	if (p == NULL)
		__builtin_unreachable(); /* spares inlined callers a second test for NULL */
	return p;
}

/*
 * The short way of refill_slot, for an open seat that the caller closed: moves the bin to
 * the slab's next ready group.  False: not possible, or the clock may have to be counted on.
 */
INTERNAL bool bin_step(struct owner *o, struct bin *b);

/* Moves the bin to the next group of its slab that has a free slot.  False: none has. */
INTERNAL bool bin_next_group(struct owner *o, struct bin *b);

/* Makes a slab current that is on no list, and of which slab_take returned true. */
INTERNAL void bin_take(struct owner *o, unsigned class, struct slab *s);

/* Sets whether releases notice that the bin's current slab becomes empty. */
static inline void bin_watch(const struct owner *o, const struct bin *b)
{
	struct slab *s = b->slab;

	/* Small classes do not react to it, unless threads are many. */
	if ((b->size <= SPARE_FREE && load_relaxed(&o->heap->owner_count) <= CROWD) || s->spare)
		s->all_free = 0;
	else if (s->all_free == 0) /* it was a spare, and then full */
		(void)slab_arm(s);
}

/* Moves the current slab, if there is one, to the partial or full list.  A full one is no spare. */
INTERNAL void bin_detach(struct owner *o, unsigned class);

/*
 * Takes the slab out of the spares, the set of empty slabs that the record caches (owner.spares,
 * slab.spare).  settle.h decides what becomes a spare.
 */
INTERNAL void spares_remove(struct owner *o, struct slab *s);

#endif
