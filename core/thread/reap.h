/* SPDX-License-Identifier: MIT */
/*
 * Reaping: records of threads that ended without ash_thread_detach are taken over
 * (takeover.h).
 *
 * It takes a system call for each record to know whether its holder has ended.  So a heap
 * that grows asks for one record at each growth, in turn, and for all records when its
 * chunks of slabs have doubled in number since it last did that.
 */
#ifndef CORE_REAP_H
#define CORE_REAP_H

#include "internal.h"
#include "thread/owner.h"

/*
 * Takes over all records whose holders have ended.  o: the caller's record, checked out, or
 * NULL.  Returns the number of records.
 */
INTERNAL size_t reap_all(struct heap *h, struct owner *o);

/* The part of that work that is due before the heap grows. */
INTERNAL void reap_some(struct heap *h, struct owner *o);

#endif
