/* SPDX-License-Identifier: MIT */
/* Resizing blocks of instances: in place or not, with an alignment or without. */
#ifndef CORE_INSTANCE_RESIZE_H
#define CORE_INSTANCE_RESIZE_H

#include "backend/chunk.h"

/*
 * Resizes the block at p in this chunk; alignment: of the result, see front/resize.h.  NULL: no
 * memory, or not possible in place, and the block is intact.
 */
INTERNAL void *instance_resize(struct chunk *c, void *p, size_t size, size_t alignment);

#endif
