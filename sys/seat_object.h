/* SPDX-License-Identifier: MIT */
/*
 * The object of core/thread/seat.h, which each thread has for itself.  A C library has no thread-local storage of its
 * own.  Inside of it (ASHLAR_LIBC) the words are a part of its structure of the thread, and the file that includes the
 * amalgamation defines seat_here.  Before a thread's first call, seat.self must be owner_none and all else 0.
 */
#ifndef SYS_SEAT_OBJECT_H
#define SYS_SEAT_OBJECT_H

#include "internal.h"

#if IS_LIBC
static inline struct seat *seat_here(void);
#define seat (*seat_here())
#else
INTERNAL_EXTERN THREAD_LOCAL struct seat seat;
#endif

#endif
