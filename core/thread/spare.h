/* SPDX-License-Identifier: MIT */
/*
 * Spares: the set of empty slabs that an owner record caches (owner.spares, slab.spare).
 * settle.h decides what becomes a spare.  For the holder of the record.
 */
#ifndef CORE_SPARE_H
#define CORE_SPARE_H

#include "internal.h"
#include "thread/owner.h"

/* Takes the slab, which is in it, out of the set. */
INTERNAL void spares_remove(struct owner *o, struct slab *s);

#endif
