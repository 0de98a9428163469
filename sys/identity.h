/* SPDX-License-Identifier: MIT */
/*
 * Who a thread is to the kernel, and whether it has ended.
 *
 *   63 ...... 32 | 31 ..... 0
 *   process id   | thread id       0: unknown
 *
 * An id alone proves nothing: after fork, in a child of vfork and in a pid
 * namespace it is another thread's or nobody's.  So only threads of the
 * caller's own process and generation are judged, and never by a child of
 * vfork.  Wherever the kernel does not tell, the thread lives.
 */
#ifndef SYS_IDENTITY_H
#define SYS_IDENTITY_H

#include <stdbool.h>
#include <stdint.h>

#include "internal.h"

/*
 * The caller's; 0 where a call is refused, and while forks cannot be noticed:
 * after one the parent's ids would be taken for the child's.
 */
INTERNAL uint64_t identity_here(void);

/*
 * True: another thread than the caller, with this identity and of the caller's
 * generation, has ended for certain.  me: the caller's identity.
 */
INTERNAL bool identity_has_ended(uint64_t identity, uint64_t me);

#endif
