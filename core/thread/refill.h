/* SPDX-License-Identifier: MIT */
/*
 * Refilling a bin, the slow path of an allocation.  Sources, from the cheapest:
 *
 *   the current slab, after other threads' releases into it
 *   a slab of the partial list, after the inbox if that list is empty or begins with a spare
 *   a new slab from units that are free
 *   slabs of vacant records (adopt_slabs) and of ended threads (seating.h)
 *   a new slab from a chunk that the heap grows by; after a look at some chunks (shrink_turn)
 *   out of memory: the units of empty slabs in all vacant records, and of unowned slabs
 *   and then a slot of a larger class (refill_larger)
 *
 * All functions are for the holder of the record.
 */
#ifndef CORE_REFILL_H
#define CORE_REFILL_H

#include "internal.h"
#include "thread/owner.h"

/* Takes a slot of the class; NULL: out of memory.  *clean: the slot is known to read zero. */
INTERNAL void *refill_slot(struct owner *o, unsigned class, bool *clean);

/* Gives the bin of the class a current slab with a free slot.  False: out of memory. */
INTERNAL bool refill_bin(struct owner *o, unsigned class);

/*
 * Out of memory: the next larger class of this alignment, a power of two, whose bin has a current slab with a free slot now,
 * of o or of a vacant record.  CLASSES: there is none.  The caller takes a slot and lets the slab go (bin_detach).
 */
INTERNAL unsigned refill_larger(struct owner *o, unsigned class, size_t alignment);

/*
 * Adopting: moves slabs of the class that have free slots from vacant records to o, which the caller holds.
 * It looks at so many records, in turn, or fewer: each slab that it moves counts as one, too.
 *
 * ADOPT_TURN: so many vacant records have at least four chunks' worth of slabs.  So a heap that
 * grows has looked at all of them by the time it has grown by a quarter.
 */
#define ADOPT_TURN 256
#define ADOPT_ALL  UINT32_MAX
INTERNAL void adopt_slabs(struct owner *o, unsigned class, unsigned n);

/*
 * Gathering: hints are set by the bitmaps again, and empty slabs go back to their chunks: o's (if
 * not NULL), vacant records', ended threads', unowned ones.
 * Called before an allocation returns NULL, and by a trim.  o: the caller's record, checked out.
 */
INTERNAL void heap_gather(struct heap *h, struct owner *o);

/* The same in the default heap, for a caller that has not checked its record out. */
INTERNAL void gather_own(void);

/* heap_gather and heap_trim (retain.h); purges pages inside slabs, too, if o is not NULL.  Bytes given back. */
INTERNAL size_t heap_give_back(struct heap *h, struct owner *o, size_t keep);

/* ---- refill_large.c ---- */

/*
 * Large slabs: slabs of one slot, for blocks above SLOT_LARGE.  (Those of several slots, which
 * slab_packs tells of, are slabs like those of small blocks, but not current, either.)  They are never current in a
 * bin.  One that its owner empties becomes a spare, on no list and not ready:
 *
 *   taken --> spare --> taken again, by a block of its class
 *                  \--> closed; its units are opened for a block of another class
 *                  \--> closed; its units go back to the chunk: younger spares need its
 *                       place, or the owner shrinks
 *
 * One that another thread empties comes to the partial list as any slab (settle.h), and is
 * taken from there by refill_bin.
 *
 * All functions are for the holder of the record.
 */

/* Makes a slab of one slot, not yet taken, in units that the caller holds. */
static inline struct slab *large_open(struct owner *o, struct units u, unsigned class)
{
	struct slab *s = slab_open(o->heap, u, class, (uint64_t)(uintptr_t)o);

	s->ready = 0;
	o->bins[class].slabs++;
	return s;
}

/* Unmakes a slab of one slot that is on no list; its units are the caller's. */
static inline struct units large_close(struct owner *o, struct slab *s)
{
	o->bins[s->class].slabs--;
	return slab_close(s);
}

/* Takes the slot of a slab that is no spare. */
static inline void large_use(struct slab *s)
{
	store_relaxed(&s->free[0], 0);
}

/*
 * Takes a slot of a class above SLOT_LARGE: a spare of as many units, or a slab made of free
 * units.  *clean: it is known to read zero.  NULL: refill_bin has to find one.
 */
INTERNAL void *large_take(struct owner *o, unsigned class, bool *clean);

/* Frees the only slot of the slab and makes the slab a spare; instead of settle_freed. */
INTERNAL void large_freed(struct owner *o, struct slab *s);

#endif
