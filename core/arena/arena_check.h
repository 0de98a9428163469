/* SPDX-License-Identifier: MIT */
/* The invariants of an arena (I11, I12 in DESIGN.md). */
#ifndef CORE_ARENA_CHECK_H
#define CORE_ARENA_CHECK_H

#include "arena/arena.h"

/* As ash_heap_check: the number of an invariant that does not hold; 0: all hold. */
INTERNAL int arena_check(const struct arena *a);

#endif
