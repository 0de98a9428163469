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
#include <stddef.h>
#include <stdint.h>

#include "atomic.h"
#include "internal.h"
#include "process.h"

#define GENERATION_BITS 26

/* Starts the count.  No effect if the kernel lacks MADV_WIPEONFORK or there is no memory. */
INTERNAL void generation_watch(void);
INTERNAL bool generation_is_watched(void);

INTERNAL uint64_t generation_now(void);

/* Where the generation is, and whose: not 0, and another word after each fork that is seen.  NULL: not watched. */
INTERNAL_EXTERN uint64_t *generation_mark;

/* False: the process may have forked since the mark was this.  Makes no system call. */
static inline bool generation_is(uint64_t entry)
{
	const uint64_t *mark = load_acquire(&generation_mark); /* pairs with generation_watch */

	return mark != NULL && load_relaxed(mark) == entry && process_mark_is_wiped();
}

#endif
