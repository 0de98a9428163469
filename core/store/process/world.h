/* SPDX-License-Identifier: MIT */
/*
 * The world of a process: its pid namespace and its time namespace.  Thread ids
 * and start times (life.h) can be compared only within one world.
 */
#ifndef CORE_WORLD_H
#define CORE_WORLD_H

#include <stdbool.h>
#include <stdint.h>

#include "internal.h"

/*
 * The world of the calling process, by the kernel's namespace numbers:
 *
 *   63 ......... 32 | 31 .......... 0
 *   pid namespace   | time namespace   0 if unknown (no /proc, old kernels)
 */
INTERNAL uint64_t world_now(void);

/* Returns whether the two are one world; an unknown half equals any other. */
INTERNAL bool world_is(uint64_t one, uint64_t other);

/*
 * Returns false if there is no /proc, or if the mounted /proc shows the ids of another pid namespace, such as a
 * container with the /proc of its host.
 */
INTERNAL bool world_has_proc(void);

#endif
