/* SPDX-License-Identifier: MIT */
/*
 * Telling a forked child from its parent without a handler of fork.
 *
 * The mark is a word in a page that the kernel wipes in a child with memory
 * of its own.  A child of vfork shares the memory, and so, rightly, the mark.
 */
#ifndef SYS_PROCESS_H
#define SYS_PROCESS_H

#include <stdbool.h>
#include <stdint.h>

#include "internal.h"

/* A mark, set; NULL: this kernel cannot, or there is no memory. */
INTERNAL uint64_t *process_mark(void);

/* True: since the mark was set, this memory was forked. */
INTERNAL bool process_has_forked(const uint64_t *mark);

/* True: in a forked child every mark reads 0.  Known once there is a mark. */
INTERNAL bool process_mark_is_wiped(void);

/* Sets it again, in the child. */
INTERNAL void process_set_mark(uint64_t *mark);

/* The process's id. */
INTERNAL uint64_t process_number(void);

/* The calling thread's id, and whether no thread of the system has this id. */
INTERNAL uint64_t process_thread(void);
INTERNAL bool process_thread_is_gone(uint64_t thread);

/* True: the caller is the first thread of its process. */
INTERNAL bool process_is_first_thread(void);

#endif
