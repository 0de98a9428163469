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

/*
 * What other threads emptied, and an owner that sleeps does not collect, is in no chunk's hands:
 * retain.h does not see it.  So threads that tell an owner of a slab (inbox_notify) count, and look at
 * one chunk for each 2 MiB of such slabs, or, while something goes, at each call (and at the slab itself,
 * if it has one slot).  One round over
 * the chunks finds the slabs that are pending and empty: up to a quarter of options.retain stays, or a
 * quarter of what else is in use, and twice the floor; the others are purged as a whole, held meanwhile.
 * What went is known by slab.purged.  Its owner returns it to its chunk, clean, so that the
 * next who takes it raises the floor (heap_cleaned): a burst that comes again keeps its pages.
 *
 * s: the slab that was told of, of any heap; it may have been unmade since.  All of it is a hint.
 */
enum purged {
	SLAB_CLEAN = 1, /* reads zero: no slot was taken since          */
	SLAB_REFUSED	/* the system does not purge it: not tried again */
};
INTERNAL void slabs_purge_foreign(struct slab *s);

#endif
