/* SPDX-License-Identifier: MIT */
/* Resizing: when a block stays in place. */
#ifndef CORE_RESIZE_H
#define CORE_RESIZE_H

#include "base/bits.h"
#include "internal.h"

/* In the place of an alignment: the block must not move. */
#define RESIZE_IN_PLACE ((size_t)0)

/* True: a block at p may stay there if it fits; alignment: a power of two, or RESIZE_IN_PLACE. */
static inline bool resize_may_stay(const void *p, size_t alignment)
{
	return alignment == RESIZE_IN_PLACE || ((uintptr_t)p & (alignment - 1)) == 0;
}

/* True: a block of `have` bytes can stay in place if it gets this size. */
INTERNAL bool block_fits(size_t have, size_t size);

/*
 * Of malloc alone, which checks the sizes of free_sized.  A block of `have` bytes stays in place although its
 * size is smaller; whether one may have, for this size.  A block got a slot of a larger class, as memory was short: then any
 * may have been given for this size; not `resized`: only so.
 */
MALLOC_ONLY void resize_keeps(size_t have, size_t size);
MALLOC_ONLY void resize_keeps_larger(void);
MALLOC_ONLY bool resize_kept(size_t have, size_t size, bool resized);

/* ash_resize for realloc, whose name a misuse then has; only malloc is built with it. */
INTERNAL void *ash_realloc(void *p, size_t size);

#endif
