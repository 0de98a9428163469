/* SPDX-License-Identifier: MIT */
/*
 * Large slabs: slabs of one slot, for blocks above SLOT_LARGE.  (Those of several slots, which
 * slab_packs tells of, are slabs like those of small blocks, but not current, either.)  They are never current in a
 * bin.  One that its owner empties becomes a spare and stays on the full list, not ready:
 *
 *   taken --> spare --> taken again, by a block of its class
 *                  \--> closed; its units are opened for a block of another class
 *                  \--> closed; its units go back to the chunk: younger spares need its
 *                       place, or the owner shrinks
 *
 * One that another thread empties comes to the partial list as any slab (settle.h), and is
 * taken from there by refill.h.
 *
 * All functions are for the holder of the record.
 */
#ifndef CORE_LARGE_H
#define CORE_LARGE_H

#include "internal.h"
#include "thread/owner.h"

/* Makes a slab of one slot, not yet taken, in units that the caller holds, and puts it on the full list. */
static inline struct slab *large_open(struct owner *o, struct units u, unsigned class)
{
	struct slab *s = slab_open(o->heap, u, class, (uint64_t)(uintptr_t)o);

	s->opened = 1;
	slabs_append(&o->bins[class].full, s);
	return s;
}

/* Unmakes a slab of one slot that is on the full list; its units are the caller's. */
static inline struct units large_close(struct owner *o, struct slab *s)
{
	slabs_remove(&o->bins[s->class].full, s);
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
