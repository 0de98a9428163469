/* SPDX-License-Identifier: MIT */
/* Adopting: slabs with free slots move from vacant records to one that needs slots. */
#ifndef CORE_ADOPT_H
#define CORE_ADOPT_H

#include "internal.h"
#include "thread/owner.h"

/*
 * Moves the slabs of the class that have free slots from all vacant records to o, which the
 * caller holds.  `all`: collects first from every slab of those records, not only from those
 * that their inboxes name.
 */
INTERNAL void adopt_slabs(struct owner *o, unsigned class, bool all);

#endif
