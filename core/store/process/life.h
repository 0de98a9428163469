/* SPDX-License-Identifier: MIT */
/*
 * A life: the identity of a thread or process, valid across processes and over time, from its start to its end or
 * exec.  An id alone is not enough: the kernel reuses ids, and exec keeps them.  So a life holds the id, the start
 * time, and properties that exec changes.
 *
 *     61   | 60 ..... 49 | 48 ........ 43 | 42 ............. 22 | 21 ..... 0
 *   forked | image of    | boot of the    | start time in ticks | thread id
 *          | the program | system         | since boot, modulo  |
 *
 *   image    a hash of the start addresses of the program's code and stack,
 *            which exec changes if address randomisation is on.  Hidden for
 *            processes of other users.  A process that changes these addresses
 *            (PR_SET_MM) counts as ended.
 *   forked   true of threads and of children of fork until they call exec
 *
 * All fields come from /proc; 0 means unknown.  If /proc cannot be read, any thread with the id counts as this life.
 * One case is missed: a process that was started by exec and executes itself again without address randomisation.
 * That life ends with the process.
 *
 * A robust futex or a file lock would detect exec, too.  But the robust list belongs to the C library and is missing
 * in emulators, and a lock needs a file descriptor: daemons close all their descriptors, and would then seem dead.
 */
#ifndef CORE_LIFE_H
#define CORE_LIFE_H

#include <stdbool.h>
#include <stdint.h>

#include "internal.h"

#define LIFE_BITS     62
#define LIFE_ID(life) ((life) & (((uint64_t)1 << 22) - 1))

/* Return the life of the calling thread, and of its process, or 0 if it is unknown. */
INTERNAL uint64_t life_of_thread(void);
INTERNAL uint64_t life_of_process(void);

/* Return whether the life has certainly ended.  Always false for an id of 0. */
INTERNAL bool life_thread_is_over(uint64_t life);
INTERNAL bool life_process_is_over(uint64_t life);

/*
 * Returns a number of the present start (boot) of the system: a hash of the kernel's boot id, not 0.  Returns 0 if
 * /proc cannot be read.
 */
INTERNAL uint64_t boot_number(void);

#endif
