/* SPDX-License-Identifier: MIT */
/*
 * Lives of threads and processes, in one program each.  An id alone is no
 * proof: the system gives it to another one some day, and exec keeps it.  So a
 * life is an id, the time of birth, and what exec changes.
 *
 *     61   | 60 ..... 49 | 48 ........ 43 | 42 ............. 22 | 21 ..... 0
 *   forked | image of    | which start of | birth, in ticks     | thread id
 *          | the program | the system     | since then, modulo  |
 *
 *   image    of where code and stack of the program begin, which exec chooses
 *            anew where addresses are random.  Not seen of other users'
 *            processes; who changes it (PR_SET_MM) counts as ended.
 *   forked   a thread, or a child that fork made: not so any more after exec
 *
 * All of it comes from /proc; 0: unknown.  Where /proc cannot be read, an id
 * that exists counts as the life that had it.  What is left: a process that was
 * made by exec and executes itself again, without random addresses.  That
 * life is over when the process ends.
 *
 * A robust futex or a lock on a file would tell of exec, too.  But the list of
 * the former is the C library's, and emulators have none; and a lock needs a
 * descriptor, which daemons close with all others: then the living seem dead.
 */
#ifndef SYS_LIFE_H
#define SYS_LIFE_H

#include <stdbool.h>
#include <stdint.h>

#include "internal.h"

#define LIFE_BITS     62
#define LIFE_ID(life) ((life) & (((uint64_t)1 << 22) - 1))

/* The calling thread's, and its process's; 0: unknown. */
INTERNAL uint64_t life_of_thread(void);
INTERNAL uint64_t life_of_process(void);

/* True: it is over for certain.  A life with the id 0 never is. */
INTERNAL bool life_thread_is_over(uint64_t life);
INTERNAL bool life_process_is_over(uint64_t life);

#endif
