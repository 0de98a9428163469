/* SPDX-License-Identifier: MIT */
/* Who works on the table, and who kills them. */
#ifndef WORKER_H
#define WORKER_H

#include "table.h"

/* How a worker ends that found something wrong. */
enum { WRONG_ENTRY = 3, HEAP_FULL = 4 };

/* Counts, replaces and deletes the words of its place, and looks up others, until it is stopped. */
_Noreturn void work(struct session s, unsigned place, uint64_t seed);

/* Ends a process of pids[WORKERS] by SIGKILL every few milliseconds, for so long. */
_Noreturn void kill_workers(const long *pids, uint64_t seconds, uint64_t seed);

#endif
