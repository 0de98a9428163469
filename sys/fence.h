/* SPDX-License-Identifier: MIT */
/*
 * What keeps stray accesses away from memory, in the hardened products: random places without a neighbour, and
 * pages without access.
 */
#ifndef SYS_FENCE_H
#define SYS_FENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "internal.h"

#if IS_HARDENED
/* Where the next mapping may be, a multiple of PAGE_HUGE: a wish, as something may be there. */
INTERNAL uint64_t fence_place(void);

/* True: a page beside the range may be mapped.  Who maps looks, so that two mappings have a gap between them. */
INTERNAL bool fence_has_neighbours(const char *p, size_t bytes);

/* Takes access to the range away, or gives it back.  False: refused, or no whole pages; nothing has changed. */
INTERNAL bool fence_set(void *p, size_t bytes, bool fenced);
#else
#define fence_place()		     ((uint64_t)0)
#define fence_has_neighbours(p, bytes) false
#define fence_set(p, bytes, fenced) ((void)(fenced), true)
#endif

#endif
