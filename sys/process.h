/* SPDX-License-Identifier: MIT */
/*
 * Recognises a forked child without an atfork handler, and returns ids of the caller.
 *
 * A fork mark is a word in a page that the kernel wipes in a child of fork (MADV_WIPEONFORK).  A child of vfork
 * shares its parent's memory and mark.
 */
#ifndef SYS_PROCESS_H
#define SYS_PROCESS_H

#include <stdbool.h>
#include <stdint.h>

#include "internal.h"

/* Returns a new mark, set.  Returns NULL if the kernel does not support marks, or there is no memory. */
INTERNAL uint64_t *process_mark(void);

/* Returns whether this is a forked child in which the mark was not set again. */
INTERNAL bool process_has_forked(const uint64_t *mark);

/* Returns whether every mark reads 0 in a forked child.  Valid once a mark was made. */
INTERNAL bool process_mark_is_wiped(void);

/* Sets the mark again, in the child. */
INTERNAL void process_set_mark(uint64_t *mark);

/*
 * The number in a mark that needs no number, or when getpid was refused: larger than any id, and not 0 as in a wiped
 * mark.
 */
#define PROCESS_UNKNOWN ((uint64_t)1 << 22)

/* Returns the id of the process, or 0 if getpid is refused. */
INTERNAL uint64_t process_number(void);
/*
 * process_mark_number returns the number for a mark, without a system call if marks are wiped.  process_is_another
 * returns whether the number in a mark is certainly not that of this process.
 */
INTERNAL uint64_t process_mark_number(void);
INTERNAL bool process_is_another(uint64_t number);
/* Returns whether a mark with this number was wiped, or was copied by a fork that wipes no marks. */
INTERNAL bool process_mark_is_old(uint64_t number);

/*
 * Returns data of the calling thread that process_thread_has_left needs later and that costs no system call.  Only a
 * program's own system has such data (ashlar_system.h); otherwise returns 0.
 */
INTERNAL uint64_t process_note(void);
/* Returns whether a thread with this seat (thread/seat.h) and this note has ended: its memory is not mapped. */
INTERNAL bool process_thread_has_left(const void *local, uint64_t note);
/* Returns whether no other thread, of this process or another, uses this memory.  Asks the kernel. */
INTERNAL bool process_is_alone(void);

/* Returns the ids of the process, << 32, and of the calling thread, or 0 if a system call is refused. */
INTERNAL uint64_t process_ids(void);

/*
 * process_thread returns the id of the calling thread.  process_thread_is_gone returns whether no thread in the
 * caller's pid namespace has this id.
 */
INTERNAL uint64_t process_thread(void);
INTERNAL bool process_thread_is_gone(uint64_t thread);

#endif
