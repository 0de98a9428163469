/* SPDX-License-Identifier: MIT */
/*
 * The fork generation: how many times this memory was copied by fork.
 *
 *   process     first        child          its child
 *   generation    0     fork   1        fork    2
 *
 * It is counted from generation_watch on, for the whole process, and advanced
 * by the first thread that asks after a fork.  A thread that sees a later
 * generation than at its first call (another one: 2^26 forks, each in the child of the one
 * before, come round) is therefore the thread that called fork:
 * the child has no other thread of its parent.  A child of vfork uses its
 * parent's memory and has its parent's generation.
 */
#ifndef SYS_GENERATION_H
#define SYS_GENERATION_H

#include <stdbool.h>
#include <stdint.h>

#include "internal.h"

#define GENERATION_BITS 26

/* Starts the count.  No effect if the kernel lacks MADV_WIPEONFORK or there is no memory. */
INTERNAL void generation_watch(void);
INTERNAL bool generation_is_watched(void);

INTERNAL uint64_t generation_now(void);

#endif
