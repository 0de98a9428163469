/* SPDX-License-Identifier: MIT */
/*
 * Generations: how many forks lie behind this memory.
 *
 *   process     first        child          its child
 *   generation    0     fork   1        fork    2
 *
 * Counted from generation_watch on, for the whole process, and moved on by
 * whichever thread asks first after a fork.  So a thread that finds the
 * generation moved on since it asked for the first time is the one that
 * forked: of its parent's threads a child has no other.  A child of vfork is
 * in its parent's memory, and of its generation.
 */
#ifndef SYS_GENERATION_H
#define SYS_GENERATION_H

#include <stdbool.h>
#include <stdint.h>

#include "internal.h"

#define GENERATION_BITS 26

/* From now on forks are noticed, unless the kernel cannot tell, or there is no memory. */
INTERNAL void generation_watch(void);
INTERNAL bool generation_is_watched(void);

INTERNAL uint64_t generation_now(void);

#endif
