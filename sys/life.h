/* SPDX-License-Identifier: MIT */
/*
 * Lives of threads and processes.  An id alone is no proof: the system gives
 * it to another one some day.  So a life is an id and the time of birth.
 *
 *   61 ........ 50 | 49 ............... 22 | 21 ..... 0
 *   which start of | birth, in ticks since | thread id
 *   the system     | then, modulo a month  |
 *
 * Births come from /proc; 0: unknown.  Where /proc cannot be read, an id that
 * exists counts as the life that had it.
 */
#ifndef SYS_LIFE_H
#define SYS_LIFE_H

#include <stdbool.h>
#include <stdint.h>

#define LIFE_BITS     62
#define LIFE_ID(life) ((life) & (((uint64_t)1 << 22) - 1))

/* The calling thread's, and its process's. */
uint64_t life_of_thread(void);
uint64_t life_of_process(void);

/* True: it is over for certain. */
bool life_thread_is_over(uint64_t life);
bool life_process_is_over(uint64_t life);

#endif
