/* SPDX-License-Identifier: MIT */
/*
 * Settling: the consequences when slots of an owner's slab become free, also by other threads (the inbox).
 *
 *   full slab    --a slot was freed-->       current if the bin's current slab is full, else partial list
 *   empty slab   --spares_add-->             a spare (bin.h)
 *   oldest spare --too many, if empty-->     unmade: its units go back to the chunk
 *
 * Unless a comment says otherwise, only the holder of the record calls these functions.
 */
#ifndef CORE_SETTLE_H
#define CORE_SETTLE_H

#include "internal.h"
#include "thread/owner.h"

/*
 * The inbox of an owner record names those slabs of the record that have remote bits, that is, slots that other
 * threads released (slab/slab.h).
 *
 *   releasing thread                          owner (collects)
 *   1  sets the slot's remote bit             1  takes the entry out of the inbox
 *   2  sets the slab's pending bit            2  clears the pending bit
 *   3  if that was not set: enters it         3  moves the remote bits to the free words
 *
 *   notified          ENTRY   an entry was made since collect_inbox began
 *                     MISSED  a thread wanted to visit the vacant record, which a guest held
 *                     LOST    there was no room for an entry
 *   words             an entry: the address of a slab, or 0
 *
 * The address of a slab hashes to four words and is entered into one of them.  If all four have entries of other
 * slabs, the owner looks for the slab chunk by chunk (collect_lost).  If the releasing thread stops before step 3,
 * shrink_turn finds the slab, because entries are only hints.
 */

#define INBOX_ENTRY  ((uint64_t)1)
#define INBOX_MISSED ((uint64_t)2)
#define INBOX_LOST   ((uint64_t)4)

/* Steps 2 and 3: sets the pending bit and enters the slab if the bit was not set.  For any thread. */
INTERNAL void inbox_notify(struct slab *s);

/*
 * Collecting: the holder of a record moves the remote bits of its slabs to their free words (slab_collect), and each
 * slab to the list where it then belongs.  collect_slab does so for one slab, if the record has it; collect_inbox for
 * the slabs that the inbox names, if there are new entries.
 */
INTERNAL void collect_slab(struct owner *o, struct slab *s);
INTERNAL void collect_inbox(struct owner *o);

/*
 * Collects from slabs for which the inbox had no room, in the next chunks of the heap, until the class has a slab
 * with free slots or the heap has more units.  LOST_TURN bounds the chunks that a call visits: an inbox has 32
 * entries, so at most one call in 32 is such a call.
 */
#define LOST_TURN 64
INTERNAL void collect_lost(struct owner *o, unsigned class);

/* Settles s after slots of s were freed.  was_full: s had no free slot before, that is, s is on no list. */
INTERNAL void settle_slab(struct owner *o, struct slab *s, bool was_full);

/*
 * Unmakes an empty slab that is no spare: removes the slab from its bin or list, and returns its units to the chunk.
 * If another thread purges the slab, the slab stays on the list.
 */
INTERNAL void slab_retire(struct owner *o, struct slab *s);

/* Evicts the oldest spares until they weigh at most `units` and the next place is free. */
INTERNAL void spares_reduce(struct owner *o, unsigned units);
/* Makes an empty slab a spare and evicts older ones.  Not while no_spares is set. */
INTERNAL void spares_add(struct owner *o, struct slab *s);

/*
 * Frees a slot by storing `word` in the free word of its group, and does all that follows.  If the bin's current slab
 * is full, s becomes the current slab.
 */
INTERNAL void settle_freed(struct owner *o, struct slab *s, uint64_t group, uint64_t word);

/* ---- settle_shrink.c ---- */

/*
 * Shrinking: the empty slabs of a record go back to the heap.
 *
 * Visits a slab of the record, current or not, cached or not: collects from the slab, and unmakes an empty slab.  For
 * the holder.
 */
INTERNAL void shrink_slab(struct owner *o, struct slab *s);

/*
 * First unmakes the cached slabs, then visits the record's slabs in the next chunks of the heap (shrink_turn) or in
 * all chunks (shrink_all).
 *
 * A turn is due before the heap grows by a chunk (refill_bin), and ends when the class has a slab with free slots.
 * So all slabs of the record were visited when the heap has grown by a quarter.
 */
#define SHRINK_TURN 4
INTERNAL void shrink_turn(struct owner *o, unsigned class);
INTERNAL void shrink_all(struct owner *o);

/*
 * Detaches all bins, and unmakes the slabs that are then empty and the cached slabs.  Other slabs are unmade when
 * they become empty (settle_slab); so the lists are not walked, and the time does not depend on the number of slabs.
 * For the holder.
 */
INTERNAL void shrink_owner(struct owner *o);

/*
 * Shrinks before a thread of the default heap leaves its record, and collects from the inbox.  Slabs in use stay
 * current, so that the next thread goes on with them on the fast path.
 */
INTERNAL void shrink_in_place(struct owner *o);

/* Collects from the inbox and shrinks.  For a holder that is about to vacate. */
INTERNAL void shrink_before_vacate(struct owner *o);

/* ---- settle_purge.c ---- */

/*
 * Purging slabs: pages without a taken slot go back to the system while other slots of the slab are taken.  The
 * bitmaps do not change.
 *
 * Purges the slabs of a record.  The first *room bytes of resident pages without a taken slot are retained, and *room
 * is reduced by them.  For the holder of the record, because then no other thread can take a slot there.  Returns the
 * bytes given back.
 */
INTERNAL size_t slabs_purge(struct owner *o, size_t *room);

/*
 * Purges one slab of another owner, or all slabs of other owners, except current slabs and those being unmade.  Each
 * slab is held during the purge (slab.hold, see slab.h): an owner that finds a slab held uses another slab.  For any
 * thread.
 */
INTERNAL size_t slabs_purge_held(struct heap *h, struct slab *s, size_t *room);
INTERNAL size_t slabs_purge_others(struct heap *h, const struct owner *o, size_t *room);

/*
 * Returns whether none of the held slab's free slots is taken, and the slab is not unmade, until slab_leave.  All
 * members are read after the slab was held, because the slab's record may have become another slab since the slab was
 * found.
 *
 * A slab of one slot qualifies only if another thread released the slot.  If the owner did, the slab may be cached
 * (refill.h), and is then taken or closed without regard to the hold.  A slot with a set remote bit is never in the
 * cache.
 */
INTERNAL bool slab_is_purgeable(const struct slab *s);

/* Holds the slab as a guest, until slab_leave.  Returns false if the slab is current or another thread purges it. */
INTERNAL bool slab_hold(struct heap *h, struct slab *s);
INTERNAL void slab_leave(struct slab *s);

/* Purges these whole pages, which have no taken slot.  Returns their bytes, or 0 if the system refuses. */
INTERNAL size_t range_purge(struct heap *h, char *from, size_t bytes, size_t *room);

/*
 * Calls `purges` (range_purge or another function of this type) for the whole pages of each run of free slots of a
 * held slab, with the memory before the first slot and behind the last slot.  Returns the sum of the results.
 */
typedef size_t range_purges(struct heap *h, char *from, size_t bytes, size_t *room);
INTERNAL size_t slab_purge(struct heap *h, const struct slab *s, range_purges *purges, size_t *room);

/*
 * Returns the free slots of a group.  The remote word is read first, because the owner sets free bits before it
 * clears remote bits.
 */
static inline uint64_t slab_free_word(const struct slab *s, unsigned g)
{
	uint64_t remote = load_acquire(&load_relaxed(&s->remote)[g]);

	/* Acquire pairs with the owner's releases, which go on while the slab is held. */
	return remote | load_acquire(&s->free[g]);
}

/* ---- settle_hand.c ---- */

/*
 * The hand passes over the chunks of slabs and purges free memory inside slabs, which retain.h does not see.  This
 * memory is holes, that is, whole pages without a taken slot between live blocks, and slabs that other threads
 * emptied and that a sleeping owner does not collect.
 *
 * A thread moves the hand by a chunk when 64 units of slabs got their first free slots.  For slabs of its own, the
 * thread subtracts slabs that serve allocations again; slabs of other threads count together.  While holes are
 * purged, four units of its own slabs are enough.  While slabs of other threads are purged, each call that notifies
 * an owner of a slab moves the hand, and also looks at that slab if it has one slot.
 *
 * A round of the hand keeps a quarter of options.retain or a quarter of the other memory in use, and in addition
 * twice the floor.  The hand purges all other memory that it sees.  It holds a slab during the purge (slab.hold).
 *
 * slab.purged marks a slab that was purged as a whole.  The owner returns the units to the chunk as clean units.
 * slab.hollow marks a slab with purged holes.  The thread that next uses memory of either kind raises the floor
 * (heap_again), so the pages of a burst that comes again stay.
 */
enum purged {
	SLAB_CLEAN = 1, /* reads zero, because no slot was taken since              */
	SLAB_REFUSED	/* the system does not purge it, so no purge is tried again */
};

/*
 * Moves the hand after another thread released into s, of any heap, the first block since its owner collected.  s may
 * have been unmade since.
 */
INTERNAL void hand_told(struct slab *s);

/* Counts a slab of `units` units that was full and now waits on a list of o.  For the holder. */
INTERNAL void hand_opened(struct owner *o, unsigned units);

#endif
