/* SPDX-License-Identifier: MIT */
/*
 * Instances: heaps that the program creates, beside the default heap.  To the program an
 * instance is a handle (ash_heap *), which is the address of its struct heap, or of its
 * struct arena (arena.h).
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

/* An arena's id is 0, which no heap with seats has: so no fast path accepts an arena. */
_Static_assert(offsetof(struct arena, sharing) == offsetof(struct heap, sharing) &&
		       offsetof(struct arena, id) == offsetof(struct heap, id),
	       "one load distinguishes arenas from other heaps");

/* The arena that the handle stands for; NULL: it is a heap of another kind. */
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

/* The store of a heap that processes share; NULL: a heap of this process, or an arena. */
static inline struct store *store_behind(ash_heap *heap)
{
	return arena_of(heap) != NULL ? NULL : store_shared(heap_of(heap));
}

/* The block that a program names in a call on a heap; a pointer that is none is misuse. */

/* The chunk of a block, which must belong to the heap, no arena. */
INTERNAL struct chunk *instance_chunk(ash_heap *heap, const char *call, const void *p);
/* Bytes of a block, which must belong to the heap; 0 for NULL. */
INTERNAL size_t instance_bytes(ash_heap *heap, const char *call, const void *p);

/* ---- instance_alloc.c, instance_release.c ---- */

/* alignment: as in ash_aligned_alloc; zero: the block reads zero.  NULL: no memory. */
INTERNAL void *instance_alloc(struct heap *h, size_t size, size_t alignment, bool zero);
/* A draft in a heap shared by processes: only the intent, CLAIMED, names the block. */
INTERNAL void *instance_draft(struct heap *h, size_t size, bool zero, struct intent *draft);

/* Releases the block at p in this chunk, of whichever heap; anything else is misuse. */
INTERNAL void instance_release(struct chunk *c, void *p);
/*
 * Releases a block that has the tag of an intent of the calling thread: if it dies here, the
 * thread that recovers the intent completes the release.  False: there is no such block.
 */
INTERNAL bool instance_release_tagged(struct heap *h, void *p);

/* ---- instance_draft.c: of heaps shared by processes, see store/recover/intent.h ---- */

/* The calling thread's record, which it gets now if it had none; NULL: it can have none. */
INTERNAL struct owner *draft_record(struct heap *h);
/*
 * A block that gets this census tag when it is published, or 0: that of the calling process.  Until
 * then only the intent *i, CLAIMED, names it.  NULL: *why.
 */
INTERNAL void *draft_make(struct heap *h, size_t size, bool zero, uint64_t tag, struct intent **i,
			  enum ash_slot *why);
/* The same, with a tag of the program's beside the process. */
INTERNAL void *draft_tagged(struct heap *h, size_t size, unsigned char tag, struct intent **i);
/* The draft that was not published is released. */
INTERNAL void draft_drop(struct heap *h, struct intent *i, void *p);
/* The slot gets a zeroed block of the heap's own, if it has none.  False: no memory, no record. */
INTERNAL bool draft_own(struct heap *h, uint64_t *slot, size_t size);
/*
 * Gives `moved`, which only the caller has, the program's tag of the block at p in this chunk.  False: no
 * memory for it.
 */
INTERNAL bool draft_carry(struct chunk *c, const void *p, void *moved);

/* ---- instance_hooks.c ---- */

/* What the code of the default heap needs of other heaps: mostly, which one has a pointer; resizing. */
INTERNAL_EXTERN const struct heap_hooks instance_hooks;

#endif
