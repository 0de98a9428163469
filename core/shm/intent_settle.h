/* SPDX-License-Identifier: MIT */
/* Recovery of intents (intent.h): what a thread was publishing when it died. */
#ifndef CORE_INTENT_SETTLE_H
#define CORE_INTENT_SETTLE_H

#include "front/slot.h"
#include "shm/store.h"

/*
 * The caller holds the record of a dead thread, or of one that leaves, and is building
 * (building.h): completes its intents, and releases the blocks that only these name.
 * whole: the lists of the record are right, and stay so.
 */
INTERNAL void intents_settle(struct owner *v, bool whole);

/* Releases a taken slot of v's own slab for its holder, who is gone.  whole: as above. */
INTERNAL void own_slot_free(struct owner *v, const struct slot_ref *at, bool whole);

#endif
