/* SPDX-License-Identifier: MIT */
/*
 * Who is changing more than slots in a heap shared by processes: units, chunks,
 * slabs.  Why it must be known: recover.h.
 *
 *   owner      its record's `building` is odd
 *   stranger   a thread without a record (more than STORE_RECORDS threads; a
 *              record about to be made): its life in one of STRANGERS places
 *   crowd      more strangers than places: only counted.  Should one of those
 *              die just then, what is lost from then on stays lost.
 */
#ifndef CORE_BUILDING_H
#define CORE_BUILDING_H

#include "internal.h"
#include "thread/owner.h"
#include "shm/store.h"

/*
 * From here to building_end the caller may change units, chunks and slabs.  o:
 * its record, or NULL.
 */
struct building {
	uint64_t *word; /* NULL: nothing to undo */
	enum { BUILDER_OWNER, BUILDER_STRANGER, BUILDER_CROWD } as;
};
INTERNAL struct building building_begin(struct heap *h, struct owner *o);
INTERNAL void building_end(struct building b);

/*
 * True: no live thread is building.  *sum: grows with each time that one
 * begins, so if it is the same later on, none did.
 */
INTERNAL bool building_quiet(struct store *s, uint64_t *sum);

/* Notes that strangers died in the middle of something, and frees their places. */
INTERNAL void strangers_bury(struct store *s);

#endif
