/* SPDX-License-Identifier: MIT */
/* Drafts: blocks of a heap shared by processes that only an intent of the calling thread names (intent.h). */
#ifndef CORE_DRAFT_H
#define CORE_DRAFT_H

#include "ashlar_heap.h"
#include "store/allocator.h"

struct intent;

/*
 * Returns the calling thread's record, after getting a record if it had none.  Returns NULL if the thread can have no
 * record.
 */
INTERNAL struct owner *draft_record(struct heap *h);
/*
 * Makes a block that gets the census tag `tag` when it is published; 0 means the tag of the calling process.  Until
 * then only the intent *i, CLAIMED, names the block.  Returns NULL on failure, with the reason in *why.
 */
INTERNAL void *draft_make(struct heap *h, size_t size, bool zero, uint64_t tag, struct intent **i,
			  enum ash_slot *why);
/* Makes such a block with a tag of the program beside the process. */
INTERNAL void *draft_tagged(struct heap *h, size_t size, unsigned char tag, struct intent **i);
/* Releases a draft that was not published. */
INTERNAL void draft_drop(struct heap *h, struct intent *i, void *p);
/*
 * Gives the slot a zeroed block of the heap, if the slot has no block.  Returns false if there is no memory or no
 * record.
 */
INTERNAL bool draft_own(struct heap *h, uint64_t *slot, size_t size);
/*
 * Gives `moved`, which only the caller has, the program's tag of the block at p in this chunk.  Returns false if
 * there is no memory for the tag.
 */
INTERNAL bool draft_carry(struct chunk *c, const void *p, void *moved);

#endif
