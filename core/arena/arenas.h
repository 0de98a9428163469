/* SPDX-License-Identifier: MIT */
/*
 * The list of the arenas of this process.  It is not kept in the memory of the arenas,
 * which may be shared with processes that have other lists.
 */
#ifndef CORE_ARENAS_H
#define CORE_ARENAS_H

#include "arena/arena.h"
#include "ashlar_descriptor.h"

/* How readers outside the process find the list. */
INTERNAL_EXTERN const struct ash_arenas arenas_descriptor;

struct chunk;

/*
 * An entry for an arena in the memory [begin, end); ASH_HEAPS_IN_MAX: none is unused, or
 * the memory overlaps that of another arena.
 */
INTERNAL uint64_t arenas_reserve(uint64_t begin, uint64_t end);
/* Publishes the arena of this entry, which is set up: it can be found from now on. */
INTERNAL void arenas_publish(uint64_t i, const struct arena *a);

/* The arena that has this granule, the innermost of several; NULL: none. */
INTERNAL struct arena *arenas_find(const void *p);
/* The same, where p may also lie in the arena's own records. */
INTERNAL struct arena *arenas_around(const void *p);
/* Removes the arena, and the arenas in its memory.  False: it is not in the list. */
INTERNAL bool arenas_leave(const void *a);

/* Removes the arenas in this memory, which is about to be reused. */
INTERNAL void arenas_gone(const void *from, size_t bytes);
/* The same for the block at p, which is about to be released or resized, if there is one. */
INTERNAL void arenas_gone_with(const struct chunk *c, const void *p);

#endif
