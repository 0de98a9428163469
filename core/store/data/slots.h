/* SPDX-License-Identifier: MIT */
/* Changing slots of a heap shared by processes in one step: see intent.h. */
#ifndef CORE_SLOTS_H
#define CORE_SLOTS_H

#include "ashlar_heap.h"
#include "store/file/store.h"

/* ash_heap_replace without checks of the slot, in a heap shared by processes.  With `release`, releases the old block. */
INTERNAL enum ash_slot slots_change(struct heap *h, uint64_t *slot, uint64_t old, uint64_t fresh, bool release);

#endif
