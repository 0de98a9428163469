/* SPDX-License-Identifier: MIT */
/*
 * More chunks for a store, while other processes work in it.
 *
 *   | store | ... records for the limit ... | chunks ........ | ............... |
 *                                           0        region.chunks     region.capacity
 *
 * Records and addresses for all chunks up to the limit exist from the beginning, in each
 * process's map, too: to the file system they are a hole.  So there is no other process to
 * be told, and nothing is moved.  The caller builds: if it dies between the two steps, the
 * new chunks are neither free nor in use, and are found as lost memory.
 */
#ifndef CORE_STORE_EXTEND_H
#define CORE_STORE_EXTEND_H

#include "shm/store.h"

/* True: it has n chunks already. */
static inline bool store_has(const struct store *s, size_t n)
{
	return load_acquire(&load_acquire(&s->heap.regions)->chunks) >= n; /* pairs with store_extend */
}

/* True: n chunks are not above its limit. */
static inline bool store_may_extend(const struct store *s, size_t n)
{
	return n <= load_relaxed(&load_acquire(&s->heap.regions)->capacity);
}

/* The store has n chunks at least.  False: above its limit. */
INTERNAL bool store_extend(struct store *s, size_t n);

#endif
