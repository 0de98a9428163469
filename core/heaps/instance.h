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
#include "base/layout.h"
#include "base/misuse.h"
#include "heaps/kind.h"
#include "slab/slab.h"

struct chunk;

/* An arena's id is 0, which is the id of no heap with seats: so no fast path accepts an arena. */
_Static_assert(offsetof(struct arena, sharing) == offsetof(struct heap, sharing) &&
		       offsetof(struct arena, id) == offsetof(struct heap, id),
	       "one load distinguishes arenas from other heaps");

/* Returns heap.sharing or arena.sharing of a heap that exists. */
static inline enum sharing instance_sharing(ash_heap *heap)
{
	const char *at = (const char *)heap + offsetof(struct heap, sharing);
	/* The member has this type in both structures. */
	enum sharing sharing = *(const enum sharing *)(const void *)at;

	if (unlikely(sharing > PAGES_CALLERS))
		misuse_report(CALL_HEAP_ANY, heap, "heap already destroyed", NULL, 0);
	return sharing;
}

/* Returns the table of the handle's kind. */
static inline const struct instance_kind *instance_kind(ash_heap *heap)
{
	return load_relaxed(&instance_kinds[instance_sharing(heap)]); /* see instance_kind_of */
}

/* Returns the arena that the handle stands for, or NULL if the handle is a heap of another kind. */
static inline struct arena *arena_of(ash_heap *heap)
{
	return instance_sharing(heap) == PAGES_CALLERS ? (struct arena *)(void *)heap : NULL;
}

static inline struct heap *heap_of(ash_heap *heap)
{
	return (struct heap *)(void *)heap;
}

static inline ash_heap *heap_public(struct heap *h)
{
	return (ash_heap *)(void *)h;
}

/* Blocks that a program names in a call on a heap.  A pointer that is no block of the heap is misuse. */

/* Returns the chunk of a block, which must belong to the heap. */
INTERNAL struct chunk *instance_chunk(struct heap *h, const char *call, const void *p);

/* ---- instance_alloc.c, instance_release.c ---- */

/*
 * Allocates a block with the alignment of ash_aligned_alloc.  With `zero` the block reads zero.  Returns NULL if
 * there is no memory.
 */
INTERNAL void *instance_alloc(struct heap *h, size_t size, size_t alignment, bool zero);
/* Allocates a block of a shared heap that only the draft names (kind.h). */
INTERNAL void *instance_draft(struct heap *h, size_t size, bool zero, void *draft);
/* The rest of ash_heap_alloc, when the thread has no slot at hand. */
INTERNAL void *instance_alloc_slow(struct heap *h, size_t size);
/* Refills the bin of the class in the record o, which is checked out, and counts that (refill_bin, owner_count). */
INTERNAL bool instance_refill(struct heap *h, struct owner *o, unsigned class);

/* A slot of the caller's own slab, and the words that its release changes. */
struct own_words {
	uint64_t index, ready, word; /* `word` with the slot's bit set: see slab_free */
};

/*
 * Returns whether p is a taken slot of a slab of the record o, which is checked out.  As in ash_release, the comparison of
 * owners decides several things at once, here also whether the slab belongs to the record's heap.
 */
static ALWAYS_INLINE bool instance_own_slot(const struct owner *o, const struct slab *s, const void *p, struct own_words *at)
{
	if (unlikely(load_relaxed(&s->owner) != (uint64_t)(uintptr_t)o) || unlikely(!slab_index(s, p, &at->index)))
		return false;
	at->word = load_relaxed(&s->free[at->index / GROUP_SLOTS]);
	at->ready = s->ready;
	return likely(!cpu_set_bit(&at->word, at->index));
}

/* Releases a slot of a slab of the record o, which is checked out.  Returns false if the slot is free. */
INTERNAL bool instance_free_own(struct heap *h, struct owner *o, struct slab *s, uint64_t index);
/* Releases a span, for the thread with the record `self`.  Returns false if the span is free. */
INTERNAL bool instance_free_span(struct heap *h, struct owner *self, struct chunk *c, void *p);
/* Visits the slab of a vacant record, as remote_free asks for; `self` is the caller's record. */
INTERNAL void instance_visit(struct heap *h, struct owner *self, struct owner *vacant, struct slab *s);
/* The rest of ash_heap_release: releases any block, and NULL. */
INTERNAL void instance_release_slow(struct heap *h, void *p);
/* Releases the block at p in this chunk, of any heap; other pointers are misuse. */
INTERNAL void instance_release(struct chunk *c, void *p);
/*
 * Releases a block that a draft of the calling thread names.  If the thread dies here, the thread that recovers the
 * draft completes the release.  Returns false if there is no such block.
 */
INTERNAL bool instance_release_drafted(struct heap *h, void *p);

/* ---- instance_create.c, instance_upkeep.c ---- */

/* Returns a number that no other heap of this process has, for heap_id. */
INTERNAL uint64_t heap_number(void);

/* Sets the heap's options, the program's or the defaults, with this cap. */
INTERNAL void heap_configure(struct heap *h, size_t cap, const struct ash_heap_options *options);

/* Returns the number of chunks for this capacity. */
static inline size_t capacity_chunks(size_t capacity)
{
	return capacity / CHUNK_SIZE + (capacity % CHUNK_SIZE != 0);
}

/* ---- the table of heaps of this process (kind.h) ---- */

/* These are in the table of shared heaps, too, as is instance_alloc. */
INTERNAL size_t instance_bytes(struct heap *h, const char *call, const void *p);
INTERNAL void *instance_resize(struct heap *h, const char *call, void *p, size_t alignment, size_t size);
INTERNAL size_t instance_expand(struct heap *h, void *p, size_t size);
INTERNAL size_t instance_good_size(size_t size);

/* These are in the table of arenas, too: no other process uses the heap. */
INTERNAL bool instance_extend(struct heap *h, size_t capacity);
INTERNAL size_t instance_release_owner(struct heap *h, uint64_t owner);

INTERNAL bool instance_release_own(struct heap *h, struct chunk *c, void *p);
INTERNAL bool instance_free_block(struct heap *h, struct owner *o, struct owner *self, struct chunk *c, void *p, bool drafted);

INTERNAL_EXTERN const struct instance_kind instance_private, instance_arena; /* for instance_set */

/* ---- instance_hooks.c ---- */

/* The functions that the default heap's code needs for other heaps: mainly to find the heap of a pointer, and to resize. */
INTERNAL_EXTERN const struct heap_hooks instance_hooks;

/* Sets heap_hooks and the tables of this room.  For each function that makes a heap. */
INTERNAL void instance_set(void);

#endif
