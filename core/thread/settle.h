/* SPDX-License-Identifier: MIT */
/*
 * Settling: what follows when slots of an owner's slab became free, also by other threads (the inbox).
 *
 *   full slab    --a slot was freed-->       current if the bin has no slot, else partial list
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
 *                     LOST    there was no room for an entry
 *   words             an entry: the address of a slab, or 0
 *
 * The address of a slab is entered into one of four words that it hashes to.  If all four
 * have entries of other slabs, the owner looks for the slab chunk by chunk (collect_lost).  If the thread stops before
 * step 3, turns find it (below): entries are hints.
 */

#define INBOX_ENTRY  ((uint64_t)1)
#define INBOX_MISSED ((uint64_t)2)
#define INBOX_LOST   ((uint64_t)4)

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
 * Collects from slabs of which the inbox had no room to tell, in the next chunks of the heap, until the class has a slab
 * with free slots or the heap has more units.  LOST_TURN bounds what a call looks at: an inbox has 32 entries, so such a
 * call is one in 32 at most.
 */
#define LOST_TURN 64
INTERNAL void collect_lost(struct owner *o, unsigned class);

/*
 * After slots of s were freed.  was_full: s had no free slot before, that is, it is on no list.
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
 * the bin has no slot left, s becomes its current slab.
 */
INTERNAL void settle_freed(struct owner *o, struct slab *s, uint64_t group, uint64_t word);

/* ---- settle_shrink.c ---- */

/*
 * Shrinking: the empty slabs of a record go back to the heap.
 *
 * Visits a slab of the record, current or not, cached or not: collects from it, and unmakes it if it is empty.
 * For the holder.
 */
INTERNAL void shrink_slab(struct owner *o, struct slab *s);

/*
 * Visits the record's slabs in the next chunks of the heap, or all of them; first unmakes the cached slabs.
 *
 * A turn is due before the heap grows by a chunk (refill_bin), and ends when the class has a slab with free slots.  So by
 * the time that the heap has grown by a quarter, all slabs of the record were visited.
 */
#define SHRINK_TURN 4
INTERNAL void shrink_turn(struct owner *o, unsigned class);
INTERNAL void shrink_all(struct owner *o);

/*
 * Detaches all bins and unmakes the slabs that are empty then, and the cached ones.  Others are
 * unmade when they become empty (settle_slab); so the lists are not walked, and what this takes does
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

/* ---- settle_purge.c ---- */

/*
 * Purging slabs: pages with no taken slot go back to the system, while other
 * slots of the slab are taken.  The bitmaps do not change.
 *
 * Purges the slabs of a record.  The first *room bytes of resident pages without a taken
 * slot are retained, and *room is reduced by them.  For the holder of the record: no other
 * thread can take a slot there meanwhile.  Returns the bytes given back.
 */
INTERNAL size_t slabs_purge(struct owner *o, size_t *room);

/*
 * The same for one slab of another owner, or all of them, except current slabs and those
 * being unmade.  Each is held meanwhile (slab.hold, see slab.h): an owner that finds a slab
 * held uses another.  For any thread.
 */
INTERNAL size_t slabs_purge_held(struct heap *h, struct slab *s, size_t *room);
INTERNAL size_t slabs_purge_others(struct heap *h, const struct owner *o, size_t *room);

/*
 * True: until the held slab is let go, none of its free slots is taken and the slab is not
 * unmade.  All its members are read after it was held, because the record may have become
 * another slab since it was found.
 *
 * A slab of one slot qualifies only if another thread released the slot.  If its owner did,
 * the slab may be cached (refill.h), and is then taken or closed without regard to the
 * hold.  A slot with its remote bit set is never in the cache.
 */
INTERNAL bool slab_is_purgeable(const struct slab *s);

/* Holds the slab as a guest, until slab_let_go.  False: it is current, or another thread purges it. */
INTERNAL bool slab_hold(struct heap *h, struct slab *s);

/* Purges these whole pages, which have no taken slot.  Returns their bytes, or 0 if the system refuses. */
INTERNAL size_t range_purge(struct heap *h, char *from, size_t bytes, size_t *room);

/*
 * Does that, or what another function of this type does, for the whole pages of each run of free slots of a held slab,
 * with the memory before the first slot and behind the last one.  Returns the sum.
 */
typedef size_t range_purges(struct heap *h, char *from, size_t bytes, size_t *room);
INTERNAL size_t slab_purge(struct heap *h, const struct slab *s, range_purges *purges, size_t *room);

/* The free slots of a group.  The remote word is read first, because the owner sets free bits before it clears remote bits. */
static inline uint64_t slab_free_word(const struct slab *s, unsigned g)
{
	uint64_t remote = load_acquire(&load_relaxed(&s->remote)[g]);

	/* Acquire pairs with the owner's releases, which go on while the slab is held. */
	return remote | load_acquire(&s->free[g]);
}

/* ---- settle_hand.c ---- */

/*
 * The hand passes over the chunks of slabs and gives back what is free inside them, which retain.h does not see: holes,
 * that is whole pages without a taken slot between live blocks; and slabs that other threads emptied and a sleeping
 * owner does not collect.
 *
 * A thread moves the hand by a chunk when 64 units of slabs got their first free slots: of its own slabs, less those from which
 * it allocates again, or of other threads' slabs.  While holes go, four units of its own are enough.  While slabs of others go, each call that
 * tells their owners of a slab moves it, and looks at that slab, too, if it has one slot.
 *
 * A round of the hand keeps a quarter of options.retain, or a quarter of the other memory in use, and twice the
 * floor.  Beyond that it purges what it sees, and holds a slab meanwhile (slab.hold).
 *
 * slab.purged marks a slab that was purged as a whole.  Its owner returns its units to the chunk as clean ones.  slab.hollow
 * marks a slab with purged holes.  The thread that uses either memory next raises the floor (heap_again), so the pages
 * of a burst that comes again stay.
 */
enum purged {
	SLAB_CLEAN = 1, /* reads zero: no slot was taken since          */
	SLAB_REFUSED	/* the system does not purge it: not tried again */
};

/* Another thread released into s, of any heap, the first block since its owner collected.  s may have been unmade since. */
INTERNAL void hand_told(struct slab *s);

/* A slab of so many units was full, and waits on a list of o.  For the holder. */
INTERNAL void hand_opened(struct owner *o, unsigned units);

#endif
