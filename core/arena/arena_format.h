/* SPDX-License-Identifier: MIT */
/* The format of an arena: how its memory is divided. */
#ifndef CORE_ARENA_FORMAT_H
#define CORE_ARENA_FORMAT_H

#include "arena/arena.h"

/* Divides the memory [begin, end), in which a begins, into record, words and granules. */
INTERNAL void arena_set_up(struct arena *a, uintptr_t begin, uintptr_t end);

#endif
