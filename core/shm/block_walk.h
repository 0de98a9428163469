/* SPDX-License-Identifier: MIT */
/* All blocks of a heap, and the process that allocated each. */
#ifndef CORE_BLOCK_WALK_H
#define CORE_BLOCK_WALK_H

#include "shm/store.h"

/* As ash_heap_walk.  ask: also whether owners live, which is a system call for each process. */
INTERNAL int block_walk(struct heap *h, bool ask,
			int (*see)(void *, void *, size_t, const struct ash_heap_owner *),
			void *context);

/* The id of the process that allocated the block of this slot, or this span (s == NULL). */
INTERNAL uint64_t block_owner(const struct chunk *c, const struct slab *s, size_t index);

#endif
