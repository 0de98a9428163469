/* SPDX-License-Identifier: MIT */
/* Who works on the table, and who kills them. */
#ifndef WORKER_H
#define WORKER_H

#include "table.h"

/* How a worker ends that found something wrong. */
enum { WRONG_ENTRY = 3, HEAP_FULL = 4 };

/* Counts, replaces and deletes the words of its place, and looks up others, until it is stopped. */
_Noreturn void work(struct session s, unsigned place, uint64_t seed);

/*
 * Whom the killer may kill, in memory that all share.  A pid is free for other processes once the
 * parent has waited for it: so the parent first takes it out, and waits while it is aimed at.
 */
struct targets {
	long pid[WORKERS]; /* 0: no process */
	long aim;	   /* whom the killer is about to kill, if his pid is still there */
};

/* Ends one of them by SIGKILL every few milliseconds, for so long. */
_Noreturn void kill_workers(struct targets *t, uint64_t seconds, uint64_t seed);
/* Removes a process that has ended but was not yet waited for.  The killer does not signal its pid afterwards. */
void target_remove(struct targets *t, unsigned place);

#endif
