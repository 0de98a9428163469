/* SPDX-License-Identifier: MIT */
/* Resizing: conditions under which a block stays in place. */
#ifndef CORE_RESIZE_H
#define CORE_RESIZE_H

#include "base/bits.h"
#include "internal.h"

/* Passed as the alignment if the block must not move. */
#define RESIZE_IN_PLACE ((size_t)0)

/* Returns whether a block at p may stay there if it fits.  The alignment is a power of two or RESIZE_IN_PLACE. */
static inline bool resize_may_stay(const void *p, size_t alignment)
{
	return alignment == RESIZE_IN_PLACE || ((uintptr_t)p & (alignment - 1)) == 0;
}

/* Returns whether a block of `have` bytes can stay in place with this size. */
INTERNAL bool block_fits(size_t have, size_t size);

/*
 * For malloc, which checks the sizes of free_sized.  resize_keeps notes that a block of `have` bytes stays in place
 * with a smaller size.  resize_keeps_larger notes that a block got a slot of a larger class because memory was short:
 * from then on any block may have any smaller size.  resize_kept returns whether a block may have been kept for this
 * size; without `resized`, only by resize_keeps_larger.
 */
MALLOC_ONLY void resize_keeps(size_t have, size_t size);
MALLOC_ONLY void resize_keeps_larger(void);
MALLOC_ONLY bool resize_kept(size_t have, size_t size, bool resized);

/* ash_resize for realloc: reports misuse by that name.  Only malloc is built with this function. */
INTERNAL void *ash_realloc(void *p, size_t size);

#endif
