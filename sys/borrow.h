/* SPDX-License-Identifier: MIT */
/*
 * Borrowed memory: a child of vfork runs in its parent's memory until it calls
 * exec or ends.  The parent then continues with everything that the child wrote
 * there, so the child must not record itself as the holder of anything.
 */
#ifndef SYS_BORROW_H
#define SYS_BORROW_H

#include <stdbool.h>

#include "internal.h"

/*
 * True: the caller's process has one thread, and another process uses the same
 * memory.  With clone(CLONE_VM) without CLONE_VFORK this holds for both
 * processes.  Makes one or two system calls.
 *
 * If the kernel or a seccomp filter refuses these calls, process numbers decide.
 * A child of vfork whose parent, itself a forked child, has never asked is then
 * recognised by the parent's state (uninterruptible wait).
 */
INTERNAL bool memory_is_borrowed(void);

#endif
