/* SPDX-License-Identifier: MIT */
/*
 * Threads that ended without a word: their records are taken over.
 *
 * Whether one ended is a question to the system for each record.  So a heap
 * that grows asks about one record at each growth, in turn, and about all when
 * its slabs have doubled since it last asked about all.
 */
#ifndef CORE_REAP_H
#define CORE_REAP_H

#include "thread/owner.h"

/* About all.  o: the caller's own record, or NULL.  Returns the number taken over. */
size_t reap_all(struct heap *h, struct owner *o);

/* Before the heap grows. */
void reap_some(struct heap *h, struct owner *o);

#endif
