/* SPDX-License-Identifier: MIT */
/* Misuse of a pointer into an arena: one fixed line, then the end (base/misuse.h). */
#ifndef CORE_ARENA_MISUSE_H
#define CORE_ARENA_MISUSE_H

#include "arena/arena.h"

/* Reports what is wrong with the pointer, which lies in the arena's memory. */
INTERNAL _Noreturn void arena_misuse(const struct arena *a, enum call call, const void *p);

#endif
