/* SPDX-License-Identifier: MIT */
/*
 * Borrowed memory: a child of vfork runs in the parent's memory until exec or its end.  The parent then continues
 * with all that the child wrote there, so the child must not record itself as a holder.
 */
#ifndef CORE_BORROW_H
#define CORE_BORROW_H

#include <stdbool.h>

#include "internal.h"

/*
 * Returns whether the caller's process has a single thread and another process uses its memory.  With clone(CLONE_VM)
 * without CLONE_VFORK this holds for both processes.  Makes one or two system calls.
 *
 * If the kernel or a seccomp filter refuses these calls, process numbers decide.  If the parent of a child of vfork
 * is itself a forked child and has never asked, the child is then recognised by the parent's state (uninterruptible
 * wait).
 */
INTERNAL bool memory_is_borrowed(void);

#endif
