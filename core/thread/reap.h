/* SPDX-License-Identifier: MIT */
/*
 * Reaping: records of threads that ended without ash_thread_detach are taken over
 * (takeover.h), and their empty slabs go back to the heap.
 *
 * To learn whether the holder of a record has ended takes a system call.  So a heap that grows
 * tests REAP_TURN records at each growth, in turn.
 *
 * REAP_TURN: 64 records with a slab each leave a chunk, which is what a growth gets; and 64 tests
 * cost 8 us, the first use of a chunk's 512 pages some 100 us.  With one test at each growth, a
 * program whose threads start, leave slabs behind and end made the heap double again and again:
 * the ended threads left more slabs than a growth got back.
 */
#ifndef CORE_REAP_H
#define CORE_REAP_H

#include "internal.h"
#include "thread/owner.h"

#define REAP_TURN 64

/*
 * Takes over all records whose holders have ended.  o: the caller's record, checked out, or
 * NULL.  Returns the number of records.
 */
INTERNAL size_t reap_all(struct heap *h, struct owner *o);

/* The part of that work that is due before the heap grows. */
INTERNAL void reap_some(struct heap *h, struct owner *o);

#endif
