/* SPDX-License-Identifier: MIT */
/* Allocation of slots in the default heap, for threads with and without a record. */
#ifndef CORE_ALLOC_H
#define CORE_ALLOC_H

#include "base/bits.h"
#include "internal.h"

/* The slow path of ash_alloc, taken if its sum had no carry; also for ashlar_inline.h. */
INTERNAL SLOW void *ash_inline_refill(unsigned small, uint64_t sum, void *owner);

#endif
