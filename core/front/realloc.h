/* SPDX-License-Identifier: MIT */
#ifndef CORE_REALLOC_H
#define CORE_REALLOC_H

#include "base/bits.h"
#include "internal.h"

/* ash_resize for realloc: reports misuse by that name.  Only malloc is built with this function. */
INTERNAL void *ash_realloc(void *p, size_t size);

/*
 * Returns whether a block of `have` bytes may have been kept for this smaller size (resize_keeps of front/variant.h);
 * without `resized`, only by resize_keeps_larger.
 */
INTERNAL bool resize_kept(size_t have, size_t size, bool resized);

#endif
