/* SPDX-License-Identifier: MIT */
/*
 * Recognising a forked child without an atfork handler; ids of the caller.
 *
 * A fork mark is a word in a page that the kernel wipes in a child of fork
 * (MADV_WIPEONFORK).  A child of vfork shares its parent's memory and mark.
 */
#ifndef SYS_PROCESS_H
#define SYS_PROCESS_H

#include <stdbool.h>
#include <stdint.h>

#include "internal.h"

/* A new mark, set.  NULL: the kernel does not support it, or there is no memory. */
INTERNAL uint64_t *process_mark(void);

/* True: this is a forked child, in which the mark has not been set again. */
INTERNAL bool process_has_forked(const uint64_t *mark);

/* True: in a forked child every mark reads 0.  Valid once a mark was made. */
INTERNAL bool process_mark_is_wiped(void);

/* Sets the mark again, in the child. */
INTERNAL void process_set_mark(uint64_t *mark);

/* A mark's number where none is needed, or getpid was refused: more than any id, and not 0 as in a wiped mark. */
#define PROCESS_UNKNOWN ((uint64_t)1 << 22)

/* The id of the process; 0: getpid is refused. */
INTERNAL uint64_t process_number(void);
/*
 * The same for a mark; no system call where marks are wiped.  True: the number in a mark is certainly
 * not that of this process.
 */
INTERNAL uint64_t process_mark_number(void);
INTERNAL bool process_is_another(uint64_t number);
/* True: a mark with this number was wiped, or was copied by a fork where none is wiped. */
INTERNAL bool process_mark_is_old(uint64_t number);

/*
 * Of the calling thread, what process_thread_has_left needs later and costs no system call: by a
 * program's own system (ashlar_system.h); 0: nothing.
 */
INTERNAL uint64_t process_note(void);
/* True: a thread with this seat (thread/seat.h) and this note has ended: its memory is not mapped. */
INTERNAL bool process_thread_has_left(const void *local, uint64_t note);
/* True: no other thread uses this memory, of this process or another one.  Asks the kernel. */
INTERNAL bool process_is_alone(void);

/* The ids of the process, << 32, and of the calling thread; 0: a system call is refused. */
INTERNAL uint64_t process_ids(void);

/* The id of the calling thread; true: no thread in the caller's pid namespace has this id. */
INTERNAL uint64_t process_thread(void);
INTERNAL bool process_thread_is_gone(uint64_t thread);

#endif
