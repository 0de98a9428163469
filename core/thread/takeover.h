/* SPDX-License-Identifier: MIT */
/*
 * Takeover: records whose holders are gone become vacant.  Lists that a holder was changing
 * (owner_begin) are rebuilt from the bitmaps.
 *
 *   lost record   --compare-and-swap of the state-->   held by the caller, as a guest
 *   if any is to be rebuilt, a walk over the heap puts each of its slabs on its list
 *   the others are right as they are
 *   its spares become ordinary slabs: a vacant record has none
 *   each record is vacated
 *
 * So a child of fork writes to what a vanished thread was changing, and not to the heap.
 *
 * The records that are taken over together are a batch.  Its number, in owner.batch,
 * distinguishes them from records that outer frames of the thread hold as a guest.
 *
 *   owner.batch   0      in no batch
 *                 even   number of the batch
 *                 odd    the same + 1: the lists must be rebuilt
 */
#ifndef CORE_TAKEOVER_H
#define CORE_TAKEOVER_H

#include "internal.h"
#include "thread/owner.h"

struct takeover {
	uint64_t number; /* 0: no record yet */
	size_t records;
	struct owner *first; /* of the records, which are added in the order of the list of owners */
};

/* An empty batch of records of one heap. */
static inline struct takeover takeover_begin(void)
{
	return (struct takeover){0, 0, NULL};
}

/* Adds a record whose state is `state`, and holds it.  False: its state has changed. */
INTERNAL bool takeover_add(struct takeover *t, struct owner *v, uint64_t state);
/* Collects or rebuilds the records of the batch and vacates them.  Returns their number. */
INTERNAL size_t takeover_end(struct takeover *t);

#endif
