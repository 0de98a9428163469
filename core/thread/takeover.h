/* SPDX-License-Identifier: MIT */
/*
 * Takeover: records whose holders are gone become vacant.  Their lists are checked, and
 * rebuilt from the bitmaps if they are wrong (intact.h).
 *
 *   lost record   --compare-and-swap of the state-->   held by the caller, as a guest
 *   a walk over all slabs of the heap counts those of each record
 *   a second walk puts each slab of a record that is not intact on its list
 *   each record is vacated
 *
 * The records that are taken over together are a batch.  Its number, in owner.batch, tells
 * them from records that outer frames of the thread hold as a guest.
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
	struct heap *heap;
	uint64_t number; /* 0: no record yet */
	size_t records;
};

/* An empty batch. */
INTERNAL struct takeover takeover_begin(struct heap *h);
/* Adds a record whose state is `state`, and holds it.  False: its state has changed. */
INTERNAL bool takeover_add(struct takeover *t, struct owner *v, uint64_t state);
/* Checks or rebuilds the records of the batch and vacates them.  Returns their number. */
INTERNAL size_t takeover_end(struct takeover *t);

#endif
