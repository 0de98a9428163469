/* SPDX-License-Identifier: MIT */
/* Adopting: slabs with free slots move from vacant records to one that needs slots. */
#ifndef CORE_ADOPT_H
#define CORE_ADOPT_H

#include "internal.h"
#include "thread/owner.h"

/*
 * Moves slabs of the class that have free slots from vacant records to o, which the caller holds.
 * It looks at so many records, in turn, or fewer: each slab that it moves counts as one, too.
 *
 * ADOPT_TURN: so many vacant records have at least four chunks' worth of slabs.  So a heap that
 * grows has looked at all of them by the time it has grown by a quarter.
 */
#define ADOPT_TURN 256
#define ADOPT_ALL  UINT32_MAX
INTERNAL void adopt_slabs(struct owner *o, unsigned class, unsigned n);

#endif
