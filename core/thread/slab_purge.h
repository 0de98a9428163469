/* SPDX-License-Identifier: MIT */
/*
 * Purging slabs: pages with no taken slot go back to the system, while other
 * slots of the slab are taken.  The bitmaps do not change.
 */
#ifndef CORE_SLAB_PURGE_H
#define CORE_SLAB_PURGE_H

#include "internal.h"
#include "thread/owner.h"

/*
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

#endif
