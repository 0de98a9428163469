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
 * is free, except in slabs of nobody: there a slot that is taken and has no
 * tag is in flight (recover.h).
 */
#ifndef CORE_CENSUS_H
#define CORE_CENSUS_H

#include "slab.h"
#include "store.h"

#define TAG_NONE    ((uint16_t)0)
#define TAG_UNKNOWN ((uint16_t)(CENSUS_PLACES - 1)) /* the census was full */
#define TAG_LEAVING ((uint16_t)0x8000) /* and the tag of the process that releases it */

static inline uint16_t *census_tag(const struct slab *s, uint64_t index)
{
	return (uint16_t *)(void *)((char *)load_relaxed(&s->remote) + REMOTE_STRIDE) + index;
}

/*
 * The calling process's tag, or TAG_UNKNOWN: the census is full of processes
 * that live, or left a block, or nobody could judge the caller's life (seats.h).
 */
uint16_t census_join(struct store *s);
/* The same for a thread whose record, or NULL, is o. */
uint16_t census_mine(struct store *s, const struct owner *o);

#endif
