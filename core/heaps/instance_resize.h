/* SPDX-License-Identifier: MIT */
/* Resizing blocks of instances. */
#ifndef CORE_INSTANCE_RESIZE_H
#define CORE_INSTANCE_RESIZE_H

#include "backend/chunk.h"

/* Resizes the block at p in this chunk.  NULL: no memory, and the block is intact. */
INTERNAL void *instance_resize(struct chunk *c, void *p, size_t size);

#endif
