/* SPDX-License-Identifier: MIT */
/*
 * The fork generation: the number of times that fork copied this memory.
 *
 *   process     first        child          its child
 *   generation    0     fork   1        fork    2
 *
 * The count begins with generation_watch, for the whole process.  The first thread that asks after a fork advances
 * the count.  A thread that sees another generation than at its first call is therefore the thread that called fork,
 * because the child has no other thread of its parent.  (After 2^26 forks, each in the child of the last, the count
 * comes round.)  A child of vfork uses its parent's memory and has its parent's generation.
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

/* Starts the count.  Has no effect if the kernel lacks MADV_WIPEONFORK or there is no memory. */
INTERNAL void generation_watch(void);
INTERNAL bool generation_is_watched(void);

INTERNAL uint64_t generation_now(void);

/*
 * Points to the generation and the process's number: a word that is not 0, and changes with each fork that is seen.
 * NULL if forks are not watched.
 */
INTERNAL_EXTERN uint64_t *generation_mark;

/* Returns false if the process may have forked since the mark had this value.  Makes no system call. */
static inline bool generation_is(uint64_t entry)
{
	const uint64_t *mark = load_acquire(&generation_mark); /* pairs with generation_watch */

	return mark != NULL && load_relaxed(mark) == entry && process_mark_is_wiped();
}

#endif
