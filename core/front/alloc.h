/* SPDX-License-Identifier: MIT */
/* A slot for whoever calls. */
#ifndef CORE_ALLOC_H
#define CORE_ALLOC_H

#include <stdbool.h>

#include "internal.h"
#include "base/bits.h"

/*
 * From the thread's own slab, or from anybody's where that cannot be.  NULL:
 * no memory.  clean: the slot is known to read zero.
 */
INTERNAL SLOW void *slot_alloc(unsigned class, bool *clean);

/* ash_alloc when its sum had no carry; also for ashlar_inline.h. */
INTERNAL SLOW void *ash_inline_refill(unsigned small, uint64_t sum, void *owner);

#endif
