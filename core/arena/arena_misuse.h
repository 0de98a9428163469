/* SPDX-License-Identifier: MIT */
/* Misuse of a pointer into an arena: prints one fixed line and ends the process (base/misuse.h). */
#ifndef CORE_ARENA_MISUSE_H
#define CORE_ARENA_MISUSE_H

#include "arena/arena.h"

/* Reports what is wrong with the pointer, which lies in the arena's memory. */
INTERNAL _Noreturn void arena_misuse(const struct arena *a, const char *call, const void *p);

#endif
