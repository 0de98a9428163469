/* SPDX-License-Identifier: MIT */
/*
 * Instances are heaps that the program creates, beside the default heap.  The program's handle of an instance
 * (ash_heap *) is the address of its struct heap, or of its struct arena (arena.h).
 */
#ifndef CORE_INSTANCE_H
#define CORE_INSTANCE_H

#include "arena/arena.h"
#include "ashlar_heap.h"
#include "backend/heap.h"
#include "base/misuse.h"
#include "store/file/store.h"

struct chunk;
struct intent;

/* An arena's id is 0, which is the id of no heap with seats: so no fast path accepts an arena. */
_Static_assert(offsetof(struct arena, sharing) == offsetof(struct heap, sharing) &&
		       offsetof(struct arena, id) == offsetof(struct heap, id),
	       "one load distinguishes arenas from other heaps");

/* Returns the arena that the handle stands for, or NULL if the handle is a heap of another kind. */
static inline struct arena *arena_of(ash_heap *heap)
{
	const char *at = (const char *)heap + offsetof(struct heap, sharing);
	/* The member has this type in both structures. */
	enum sharing sharing = *(const enum sharing *)(const void *)at;

	if (likely(sharing < PAGES_CALLERS))
		return NULL;
	if (unlikely(sharing == PAGES_GONE))
		misuse_report(CALL_HEAP_ANY, heap, "heap already destroyed", NULL, 0);
	return (struct arena *)(void *)heap;
}

static inline struct heap *heap_of(ash_heap *heap)
{
	return (struct heap *)(void *)heap;
}

static inline ash_heap *heap_public(struct heap *h)
{
	return (ash_heap *)(void *)h;
}

/* Returns the store of a heap that processes share, or NULL for a heap of this process and for an arena. */
static inline struct store *store_behind(ash_heap *heap)
{
	return arena_of(heap) != NULL ? NULL : store_shared(heap_of(heap));
}

/* Blocks that a program names in a call on a heap.  A pointer that is no block of the heap is misuse. */

/* Returns the chunk of a block, which must belong to the heap.  The heap is no arena. */
INTERNAL struct chunk *instance_chunk(ash_heap *heap, const char *call, const void *p);
/* Returns the bytes of a block, which must belong to the heap, or 0 for NULL. */
INTERNAL size_t instance_bytes(ash_heap *heap, const char *call, const void *p);

/* ---- instance_alloc.c, instance_release.c ---- */

/*
 * Allocates a block with the alignment of ash_aligned_alloc.  With `zero` the block reads zero.  Returns NULL if
 * there is no memory.
 */
INTERNAL void *instance_alloc(struct heap *h, size_t size, size_t alignment, bool zero);
/* Allocates a draft in a heap shared by processes: only the intent, CLAIMED, names the block. */
INTERNAL void *instance_draft(struct heap *h, size_t size, bool zero, struct intent *draft);

/* Releases the block at p in this chunk, of any heap; other pointers are misuse. */
INTERNAL void instance_release(struct chunk *c, void *p);
/*
 * Releases a block that has the tag of an intent of the calling thread.  If the thread dies here, the thread that
 * recovers the intent completes the release.  Returns false if there is no such block.
 */
INTERNAL bool instance_release_tagged(struct heap *h, void *p);

/* ---- instance_draft.c: of heaps shared by processes, see store/recover/intent.h ---- */

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

/* ---- instance_hooks.c ---- */

/* The functions that the default heap's code needs for other heaps: mainly to find the heap of a pointer, and to resize. */
INTERNAL_EXTERN const struct heap_hooks instance_hooks;

#endif
