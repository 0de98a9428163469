/* SPDX-License-Identifier: MIT */
/* Changing slots of a heap shared by processes in one step: see shm/intent.h. */
#ifndef CORE_INSTANCE_PUBLISH_H
#define CORE_INSTANCE_PUBLISH_H

#include "ashlar_heap.h"
#include "shm/store.h"

/* The calling thread's record, which it gets now if it had none; NULL: it can have none. */
INTERNAL struct owner *publish_record(struct heap *h);

/*
 * A block that gets this census tag when it is published, or 0: that of the calling process.  Until
 * then only the intent *i, CLAIMED, names it.  NULL: *why.
 */
INTERNAL void *publish_draft(struct heap *h, size_t size, bool zero, uint64_t tag,
			     struct intent **i, enum ash_slot *why);
/* The draft that was not published is released. */
INTERNAL void publish_drop(struct heap *h, struct intent *i, void *p);

/* The slot gets a zeroed block of the heap's own, if it has none.  False: no memory, no record. */
INTERNAL bool publish_own(struct heap *h, uint64_t *slot, size_t size);

/*
 * As ash_heap_replace, without checks of the slot, in a heap shared by processes.  release: the
 * old block is released.
 */
INTERNAL enum ash_slot publish_change(struct heap *h, uint64_t *slot, uint64_t old, uint64_t fresh,
				      bool release);

#endif
