/* SPDX-License-Identifier: MIT */
/* All blocks of an arena, as ash_heap_walk and ash_heap_stats report them. */
#ifndef CORE_ARENA_WALK_H
#define CORE_ARENA_WALK_H

#include "arena/arena.h"

INTERNAL int arena_walk(struct arena *a,
			int (*see)(void *, void *, size_t, const struct ash_heap_owner *),
			void *context);
INTERNAL void arena_stats(struct arena *a, struct ash_stats *out);

#endif
