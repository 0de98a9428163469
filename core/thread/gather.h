/* SPDX-License-Identifier: MIT */
/* Gathering: empty slabs go back to their chunks, and hints are set by the bitmaps again. */
#ifndef CORE_GATHER_H
#define CORE_GATHER_H

#include "internal.h"
#include "thread/owner.h"

/*
 * Returns empty slabs to their chunks: o's (if not NULL), vacant records', ended threads', unowned ones.
 * Called before an allocation returns NULL, and by a trim.  o: the caller's record, checked out.
 */
INTERNAL void heap_gather(struct heap *h, struct owner *o);

/* The same in the default heap, for a caller that has not checked its record out. */
INTERNAL void gather_own(void);

#endif
