/* SPDX-License-Identifier: MIT */
/*
 * The benches of the calling thread: one for private heaps, one for heaps shared by
 * processes.
 *
 * fork wipes the page for shared heaps.  So a child never finds its parent's seats, whose
 * records the parent continues to use, and gets its own.
 */
#ifndef CORE_THREAD_BENCH_H
#define CORE_THREAD_BENCH_H

#include "store/recover/benches.h"

/*
 * The thread's pages, for seats_guess.  NULL: there is none yet, or fork does not wipe it
 * (under an emulator), so that its mark must be read first.
 */
INTERNAL_EXTERN THREAD_LOCAL struct seat_page *seats_open[SEAT_KINDS];

/*
 * The thread's bench of this kind; made, or emptied after a fork, if necessary.  NULL: no
 * memory.
 */
INTERNAL struct bench *thread_bench(unsigned kind);
/* The same as it is; NULL: there is none yet. */
INTERNAL struct bench *thread_bench_look(unsigned kind);

/* The thread ends: leaves its benches.  Records that sit there are left to reap_all. */
INTERNAL void thread_bench_leave(void);

/* In tests: as in a process that was just forked. */
INTERNAL void thread_bench_forget(void);

/*
 * In the benches is an entry for each heap that the thread uses.
 *
 * The calling thread's entry for the heap, made if necessary.  NULL: no memory, or a call
 * that the caller interrupted is making one.
 */
INTERNAL struct seat_entry *seat_entry_for(struct heap *h);

#endif
