/* SPDX-License-Identifier: MIT */
/*
 * Settling: what follows when slots of an owner's slab became free.
 *
 *   full slab    --a slot was freed-->       partial list; or current, if the bin has no slot
 *   empty slab   --spares_add-->             a spare (bin.h)
 *   oldest spare --too many, if empty-->     unmade: its units go back to the chunk
 *
 * All functions are for the holder of the record.
 */
#ifndef CORE_SETTLE_H
#define CORE_SETTLE_H

#include "internal.h"
#include "thread/owner.h"

/*
 * After slots of s were freed.  was_full: s had no free slot before, that is, it is on the
 * full list unless it is current.
 */
INTERNAL void settle_slab(struct owner *o, struct slab *s, bool was_full);

/*
 * Unmakes an empty slab that is no spare: takes it from its bin or list, and its units go back
 * to the chunk.  If another thread purges it, it stays on the list.
 */
INTERNAL void slab_retire(struct owner *o, struct slab *s);

/* Evicts the oldest spares until they weigh at most `units` and the next place is free. */
INTERNAL void spares_reduce(struct owner *o, unsigned units);
/* Makes an empty slab a spare and evicts older ones.  Not while no_spares is set. */
INTERNAL void spares_add(struct owner *o, struct slab *s);

/*
 * Frees a slot by storing `word` in the free word of its group, and does all that follows.  If
 * the bin has no slot left, it moves to where it finds one: within its slab, or to s.
 */
INTERNAL void settle_freed(struct owner *o, struct slab *s, uint64_t group, uint64_t word);

#endif
