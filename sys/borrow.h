/* SPDX-License-Identifier: MIT */
/*
 * Borrowed memory: a child of vfork runs in its parent's, until it execs or
 * ends; the parent then goes on with all that the child left there.  So what
 * would name the child as the one who holds something must not be written.
 */
#ifndef SYS_BORROW_H
#define SYS_BORROW_H

#include <stdbool.h>

#include "internal.h"

/*
 * True: the caller's process has one thread, and another process uses the same
 * memory.  Also said of that one, if it is not suspended (clone with CLONE_VM
 * and without CLONE_VFORK).  One or two system calls.
 *
 * Where the kernel or a filter refuses to tell, process numbers decide; a child
 * of vfork of a forked child that never asked before is then known by its
 * parent's waiting.
 */
INTERNAL bool memory_is_borrowed(void);

#endif
