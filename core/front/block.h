/* SPDX-License-Identifier: MIT */
/* The size of the block that a pointer names, and of a block that is resized. */
#ifndef CORE_BLOCK_H
#define CORE_BLOCK_H

#include "backend/chunk.h"
#include "backend/map.h"
#include "base/misuse.h"
#include "front/slot.h"
#include "internal.h"

/* Returns the usable bytes of the live block at p in this chunk, or 0 if there is no such block or c is NULL. */
INTERNAL size_t chunk_block(const struct chunk *c, const void *p);

/* Returns the usable bytes of a live block, or 0 for NULL.  Any other pointer is misuse by `call`. */
INTERNAL size_t block_bytes(const char *call, const void *p);

/* Returns the usable bytes of a new block of the default heap of this size, up to PTRDIFF_MAX. */
INTERNAL size_t block_good(size_t size);

/* ---- resizing: conditions under which a block stays in place ---- */

/* Passed as the alignment if the block must not move. */
#define RESIZE_IN_PLACE ((size_t)0)

/* Returns whether a block at p may stay there if it fits.  The alignment is a power of two or RESIZE_IN_PLACE. */
static inline bool resize_may_stay(const void *p, size_t alignment)
{
	return alignment == RESIZE_IN_PLACE || ((uintptr_t)p & (alignment - 1)) == 0;
}

/*
 * Returns whether a block of `have` bytes stays in place with this size: it does if the new size fits and uses at least
 * half of the block, because growing buffers are often trimmed and grown again.
 */
static inline bool block_fits(size_t have, size_t size)
{
	return size <= have && (size >= have / 2 || have == SLOT_MIN);
}

#endif
