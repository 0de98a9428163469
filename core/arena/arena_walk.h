/* SPDX-License-Identifier: MIT */
/* All blocks of an arena, as ash_heap_walk and ash_heap_stats report them. */
#ifndef CORE_ARENA_WALK_H
#define CORE_ARENA_WALK_H

#include "arena/arena.h"

INTERNAL int arena_walk(struct arena *a,
			int (*see)(void *, void *, size_t, const struct ash_heap_owner *),
			void *context);
/* As ash_find, for an address among the arena's granules. */
INTERNAL struct ash_block arena_find(const struct arena *a, const void *p);
INTERNAL void arena_stats(struct arena *a, struct ash_statistics *out);

#endif
