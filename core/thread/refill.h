/* SPDX-License-Identifier: MIT */
/*
 * Refilling a bin: the slow path of an allocation.  For sizes up to SLOT_SMALL, the caller has tried the first
 * slab of the partial list already (bin_next).  Sources, from the cheapest:
 *
 *   the current slab, after releases into it by other threads
 *   a slab of the partial list, after the inbox if that list is empty or begins with a spare; a spare only if there
 *   is no other
 *   a new slab from free units
 *   slabs of vacant records (adopt_slabs), and the units of empty slabs of ended threads (reap_some)
 *   slabs of this record in some chunks (shrink_turn), then a new slab from a chunk by which the heap grows
 *   out of memory: the units of all empty slabs, of this and of vacant records, of ended threads, unowned (heap_gather)
 *   and then, by the caller, a slot of an unowned slab or of a larger class (front/slot.c)
 *
 * Only the holder of the record calls these functions.
 */
#ifndef CORE_REFILL_H
#define CORE_REFILL_H

#include "internal.h"
#include "thread/owner.h"

/*
 * Takes a slot of the class.  Returns NULL if there is no memory.  Sets *clean to whether the slot is known to read
 * zero.
 */
INTERNAL void *refill_slot(struct owner *o, unsigned class, bool *clean);

/* Gives the bin of the class a current slab with a free slot.  Returns false if there is no memory. */
INTERNAL bool refill_bin(struct owner *o, unsigned class);

/*
 * Used when memory is short.  Returns the next larger class of this alignment, a power of two, whose bin now has a
 * current slab with a free slot, from o or from a vacant record.  Returns CLASSES if there is no such class.  The
 * caller takes a slot and then detaches the slab (bin_detach).
 */
INTERNAL unsigned refill_larger(struct owner *o, unsigned class, size_t alignment);

/*
 * Adoption moves slabs of the class that have free slots from vacant records to o, which the caller holds.  A call
 * looks at n records at most, in turn; each slab that it moves counts as a record, too.
 *
 * ADOPT_TURN vacant records have at least four chunks' worth of slabs.  So a heap that grows has looked at all vacant
 * records when the heap has grown by a quarter.
 */
#define ADOPT_TURN 256
#define ADOPT_ALL  UINT32_MAX
INTERNAL void adopt_slabs(struct owner *o, unsigned class, unsigned n);

/*
 * Gathering sets hints from the bitmaps again, and returns empty slabs to their chunks: slabs of ended threads and unowned
 * slabs, and if o is not NULL also slabs of o and of vacant records.  Gathering runs before an allocation returns NULL, and
 * in a trim.  o is the caller's record, checked out.
 */
INTERNAL void heap_gather(struct heap *h, struct owner *o);

/* Gathers in the default heap, for a caller that has not checked its record out. */
INTERNAL void gather_own(void);

/*
 * Calls heap_gather and heap_trim (retain.h), and purges pages inside slabs if o is not NULL.  Returns the bytes
 * given back.
 */
INTERNAL size_t heap_give_back(struct heap *h, struct owner *o, size_t keep);

/* ---- refill_large.c ---- */

/*
 * Large slabs: slabs with a single slot, for blocks above SLOT_LARGE.  A large slab is never current in a bin.  Slabs
 * of several slots for such blocks (slab_packs) are never current, either; else they work like those of small blocks.
 * If the owner empties a large slab, the slab becomes a spare, on no list and not ready:
 *
 *   taken --> spare --> taken again, by a block of its class
 *                  \--> closed; its units go back to the chunk: younger spares need its
 *                       place, a block finds no units, or the owner shrinks
 *
 * If another thread empties a large slab, the slab comes to the partial list as any slab does (settle.h), and
 * refill_bin takes it from there.
 *
 * Only the holder of the record calls these functions.
 */

/* Makes a slab of one slot in units that the caller holds.  The slot is not taken yet. */
static inline struct slab *large_open(struct owner *o, struct units u, unsigned class)
{
	struct slab *s = slab_open(o->heap, u, class, (uint64_t)(uintptr_t)o);

	s->ready = 0;
	o->bins[class].slabs++;
	return s;
}

/* Unmakes a slab of one slot that is on no list.  The units then belong to the caller. */
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
 * Takes a slot of a class above SLOT_LARGE from a spare of the class, or from a slab made of free units.  Sets
 * *clean to whether the slot is known to read zero.  Returns NULL if refill_bin has to find a slab.
 */
INTERNAL void *large_take(struct owner *o, unsigned class, bool *clean);

/* Frees the only slot of the slab and makes the slab a spare.  Called instead of settle_freed. */
INTERNAL void large_freed(struct owner *o, struct slab *s);

#endif
