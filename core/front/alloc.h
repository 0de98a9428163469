/* SPDX-License-Identifier: MIT */
/* Allocation of slots in the default heap, for threads with and without a record. */
#ifndef CORE_ALLOC_H
#define CORE_ALLOC_H

#include "base/bits.h"
#include "internal.h"
#include "thread/bin.h"
#include "thread/seat.h"

/*
 * Allocates a block of this class from any source.  With CLASSES, the block is larger than any class has.  The class
 * has the alignment.  Returns NULL as alloc_rest does.
 */
INTERNAL SLOW void *alloc_class(unsigned class, size_t size, size_t alignment, bool zero);

/*
 * Allocates a block of any size from any source.  Returns NULL if there is no memory or the size is too large, after
 * it called ash_on_no_memory.
 */
INTERNAL SLOW void *alloc_rest(size_t size, bool zero);

/* Allocates an aligned block like alloc_rest.  Also returns NULL if ash_aligned_alloc does not accept the alignment. */
INTERNAL SLOW void *alloc_aligned_rest(size_t alignment, size_t size, bool zero);

/* The slow path of ash_alloc.  `opened` is the value of seat.open before ash_alloc closed the seat. */
INTERNAL SLOW void *alloc_refill(size_t size, void *owner, uint64_t opened);

/*
 * Allocates a block if that is possible at once, else returns the result of `rest`.  rest is called by a jump, so
 * that an exception that it throws does not pass through here (core/malloc/new.c).
 */
typedef void *ash_rest(size_t size);
#if IS_MALLOC /* new.c and the amalgamation are separate objects */
HIDDEN void *ash_alloc_or(size_t size, ash_rest *rest);
#else
INTERNAL void *ash_alloc_or(size_t size, ash_rest *rest);
#endif

#endif
