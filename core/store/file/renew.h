/* SPDX-License-Identifier: MIT */
/*
 * Rebuilding the caches of a file: everything in it that is not the truth (store.h).  For a
 * process whose structures differ from those of the processes that worked there before, when
 * none of them is attached any more.
 *
 *   caches    N ---> CACHES_NONE --(all of it is rebuilt)--> store_caches() of the caller
 *   renewer   0 ---> the caller's life ----------------------------------------> 0
 *
 * If the caller dies, the next one finds CACHES_NONE and a dead renewer, and starts over: only
 * what is not the truth is written, so that may be done any number of times.
 *
 * Who attaches enters the census, and then reads `caches`; who rebuilds them sets CACHES_NONE,
 * and then looks for living processes in the census.  So one of the two sees the other.  A
 * child of fork enters when it gets a record.  If that is after its parent's file was rebuilt,
 * it is stopped: it has not used the heap before, and its code knows other structures.
 */
#ifndef CORE_RENEW_H
#define CORE_RENEW_H

#include "ashlar_heap.h"
#include "store/file/store.h"

/* As reattach_is_torn, by the census: the records cannot be read. */
INTERNAL bool renew_is_torn(const struct store *s, uint64_t file);

/* Rebuilds the caches.  ASH_ATTACHED: that was done; else the reason why not.  s: mapped, the truth in it checked. */
INTERNAL enum ash_attach renew(struct store *s, int fd);

/*
 * The calling process is attached, for those who renew.  False: the caches are not those of its structures
 * (any more).  Before anything is written but the truth.
 */
INTERNAL bool renew_enter(struct store *s);

/* For a thread that gets a record: stops the process if it has no business there. */
INTERNAL void renew_check(struct store *s);

#endif
