/* SPDX-License-Identifier: MIT */
/*
 * Identity of a thread within its process, and whether that thread has ended.
 * (life.h answers the same across processes.)
 *
 *   63 ...... 32 | 31 ..... 0
 *   process id   | thread id       0: unknown
 *
 * An id alone is not enough: after fork, in a child of vfork and in another pid
 * namespace it may belong to another thread or to none.  So only threads of the
 * caller's own process and fork generation are tested, and never by a child of
 * vfork.  If the kernel does not answer, the thread counts as alive.
 */
#ifndef SYS_IDENTITY_H
#define SYS_IDENTITY_H

#include <stdbool.h>
#include <stdint.h>

#include "internal.h"

/*
 * The caller's identity.  0 if a system call is refused, or while forks are not
 * watched (generation.h): after a fork the parent's ids would pass for the child's.
 */
INTERNAL uint64_t identity_here(void);

/*
 * True: the thread with this identity, which is of the caller's generation and not
 * the caller, has certainly ended.  me: the caller's identity.
 */
INTERNAL bool identity_has_ended(uint64_t identity, uint64_t me);

#endif
