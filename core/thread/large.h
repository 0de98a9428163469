/* SPDX-License-Identifier: MIT */
/*
 * Blocks above SLOT_LARGE.  Each has a slab of its own, which needs neither a
 * bin nor spares.
 *
 *   taken --> cached --> taken again by its class
 *                   \--> closed, its units opened for another class
 *                   \--> closed, its units given back: another is cached there,
 *                        or too many are, or the owner shrinks
 *
 * A cached slab is empty and stays among the full ones, since only
 * owner.cached tells of it.  That is a hint: whoever takes the record over finds
 * the slab by its bitmap.
 */
#ifndef CORE_LARGE_H
#define CORE_LARGE_H

#include "thread/owner.h"

/*
 * A slot above SLOT_LARGE, for the holder of the record: a slab that is cached,
 * or made of free units.  NULL: it needs more than that.
 */
void *large_take(struct owner *o, unsigned class, bool *clean);
/* The only slot of the slab is released; see owner_freed. */
void large_freed(struct owner *o, struct slab *s);
/* What is cached goes back to the heap. */
void large_leave(struct owner *o);

#endif
