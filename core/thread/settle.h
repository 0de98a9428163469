/* SPDX-License-Identifier: MIT */
/*
 * Settling: what follows when slots of an owner's slab became free, also by other threads (the inbox).
 *
 *   full slab    --a slot was freed-->       partial list; or current, if the bin has no slot
 *   empty slab   --spares_add-->             a spare (bin.h)
 *   oldest spare --too many, if empty-->     unmade: its units go back to the chunk
 *
 * All functions that do not say otherwise are for the holder of the record.
 */
#ifndef CORE_SETTLE_H
#define CORE_SETTLE_H

#include "internal.h"
#include "thread/owner.h"

/*
 * The inbox of an owner record: which of its slabs have remote bits (slots that threads
 * other than the owner released, slab/slab.h).
 *
 *   releasing thread                          owner (collects)
 *   1  sets the slot's remote bit             1  takes the entry out of the inbox
 *   2  sets the slab's pending bit            2  clears the pending bit
 *   3  if that was not set: enters it         3  moves the remote bits to the free words
 *
 *   notified          ENTRY   an entry was made since collect_inbox began
 *                     MISSED  a thread wanted to visit the vacant record, which a guest held
 *   words  0 ... 1    a bit for each class: some slab of the class has its pending bit set
 *          2 ... 33   an entry: the address of a slab, or 0
 *
 * The address of a slab is entered into one of four words that it hashes to.  If all four
 * have entries of other slabs, the bit of the slab's class is set instead.  Entries and
 * bits are hints: what is lost when a thread stops before step 3, turns find (shrink.h).
 */

#define INBOX_ENTRY  ((uint64_t)1)
#define INBOX_MISSED ((uint64_t)2)

/* Steps 2 and 3: sets the pending bit and, if it was not set, enters the slab.  For any thread. */
INTERNAL void inbox_notify(struct slab *s);

/*
 * Collecting: the holder of a record moves the remote bits of its slabs to their free
 * words (slab_collect), and each slab to the list where it then belongs.
 * From one slab, if the record has it; or from the slabs that the inbox names, if it has new
 * entries.
 */
INTERNAL void collect_slab(struct owner *o, struct slab *s);
INTERNAL void collect_inbox(struct owner *o);

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
