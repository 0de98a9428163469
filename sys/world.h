/* SPDX-License-Identifier: MIT */
/*
 * Namespaces: in which of them a thread id and a time of birth mean what they
 * say.  Who runs in another one has other numbers for the same lives.
 */
#ifndef SYS_WORLD_H
#define SYS_WORLD_H

#include <stdbool.h>
#include <stdint.h>

#include "internal.h"

/*
 * The calling process's, by the numbers that the system gives them:
 *
 *   63 ........ 32 | 31 ......... 0
 *   of process ids | of time          0: unknown (no /proc, old kernels)
 */
INTERNAL uint64_t world_now(void);

/* False: ids in the one do not mean the same as in the other.  What is unknown counts as the same. */
INTERNAL bool world_is(uint64_t one, uint64_t other);

/*
 * False: the /proc that is mounted here tells of another namespace's ids.  So
 * in a container that has the /proc of its host.
 */
INTERNAL bool world_has_proc(void);

#endif
