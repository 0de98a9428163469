/* SPDX-License-Identifier: MIT */
/* Tags of the program's: a block that moves keeps its own. */
#ifndef CORE_TAGGED_H
#define CORE_TAGGED_H

#include "backend/chunk.h"

/*
 * Gives `moved`, which only the caller has, the tag of the block at p in this chunk.  False: no
 * memory for it.
 */
INTERNAL bool tagged_carry(struct chunk *c, const void *p, void *moved);

#endif
