/* SPDX-License-Identifier: MIT */
/* Blocks of an arena: resized. */
#ifndef CORE_ARENA_RESIZE_H
#define CORE_ARENA_RESIZE_H

#include "arena/arena.h"

/* Changes the size in place; false: not possible.  p: a block; size: at most PTRDIFF_MAX. */
INTERNAL bool arena_fit(struct arena *a, void *p, size_t size);
/* The same in place or elsewhere.  NULL: no memory, and the block is intact. */
INTERNAL void *arena_resize(struct arena *a, void *p, size_t size, size_t alignment);

#endif
