/* SPDX-License-Identifier: MIT */
/* An arena as its readers see it: all its blocks, as ash_heap_walk and ash_heap_stats report them; its check. */
#ifndef CORE_ARENA_WALK_H
#define CORE_ARENA_WALK_H

#include "arena/arena.h"

INTERNAL int arena_walk(struct arena *a,
			int (*see)(void *, void *, size_t, const struct ash_heap_owner *),
			void *context);
/* As ash_find, for an address among the arena's granules. */
INTERNAL struct ash_block arena_find(const struct arena *a, const void *p);
INTERNAL void arena_stats(struct arena *a, struct ash_statistics *out);

/* As ash_heap_check: the number of an invariant (I11, I12 in DESIGN.md) that does not hold; 0: all hold. */
INTERNAL int arena_check(const struct arena *a);

#endif
