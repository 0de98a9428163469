/* SPDX-License-Identifier: MIT */
/*
 * The census of a heap shared by processes: who allocated what.
 *
 *   census   [life of a process | 0 | ...]     place i: tag i + 1; the uppermost
 *            bit: it is known to be over
 *   tags     16 bits for each slot, behind the remote words of its slab; a
 *            span's tag stands in its chunk record, in `clean`
 *
 * A tag is written before the slot is taken.  It means nothing where the slot
 * is free, except in unowned slabs: there a slot that is taken and has no
 * tag is in flight (recover.h).
 */
#ifndef CORE_CENSUS_H
#define CORE_CENSUS_H

#include "internal.h"
#include "slab/slab.h"
#include "shm/store.h"

#define TAG_NONE    ((uint16_t)0)
#define TAG_UNKNOWN ((uint16_t)(CENSUS_ENTRIES - 1)) /* the census was full */
#define TAG_LEAVING ((uint16_t)0x8000) /* and the tag of the process that releases it */

/* The tag 0 and the unknown have no place. */
#define CENSUS_LAST (CENSUS_ENTRIES - 2)

/* In a place: its process was found to be over, which is asked of the system only once. */
#define CENSUS_OVER ((uint64_t)1 << 63)
_Static_assert(LIFE_BITS < 63, "a bit is left");

static inline uint16_t *census_tag(const struct slab *s, uint64_t index)
{
	return (uint16_t *)(void *)((char *)load_relaxed(&s->remote) + REMOTE_STRIDE) + index;
}

/*
 * The calling process's tag, or TAG_UNKNOWN: the census is full of processes
 * that live, or left a block, or nobody could judge the caller's life (seats.h).
 */
INTERNAL uint16_t census_join(struct store *s);
/* The same for a thread whose record, or NULL, is o. */
INTERNAL uint16_t census_mine(struct store *s, const struct owner *o);

/* True: the process in the i-th place is over.  word: what stands there. */
INTERNAL bool census_is_over(struct store *s, unsigned i, uint64_t word);
/* True: a record that is somebody's, or a dead one's, still speaks of this place. */
INTERNAL bool census_is_held(struct store *s, uint64_t tag);

/* As ash_heap_walk; ask: also whether owners live (visit.c). */
INTERNAL int census_walk(struct heap *h, bool ask,
			 int (*see)(void *, void *, size_t, const struct ash_heap_owner *),
			 void *context);

#endif
