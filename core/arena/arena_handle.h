/* SPDX-License-Identifier: MIT */
/* What a handle (ash_heap *) stands for: an arena, or a heap of another kind. */
#ifndef CORE_ARENA_HANDLE_H
#define CORE_ARENA_HANDLE_H

#include "arena/arena.h"
#include "backend/heap.h"

/* An arena's id is 0, which no heap with seats has: so no fast path accepts an arena. */
_Static_assert(offsetof(struct arena, sharing) == offsetof(struct heap, sharing) &&
		       offsetof(struct arena, id) == offsetof(struct heap, id),
	       "one load distinguishes arenas from other heaps");

/* The arena that the handle stands for; NULL: it is a heap of another kind. */
static inline struct arena *arena_of(ash_heap *heap)
{
	const char *at = (const char *)heap + offsetof(struct heap, sharing);
	/* The member has this type in both structures. */
	enum sharing sharing = *(const enum sharing *)(const void *)at;

	if (likely(sharing < PAGES_CALLERS))
		return NULL;
	if (unlikely(sharing == PAGES_GONE))
		misuse_report(CALL_HEAP_ANY, heap, "heap already destroyed", NULL, 0);
	return (struct arena *)(void *)heap;
}

#endif
