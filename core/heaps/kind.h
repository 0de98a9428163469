/* SPDX-License-Identifier: MIT */
/*
 * Kinds of heap that the program makes: a heap of this process, a heap shared by processes, an arena.  Each kind has a
 * constant table of functions, which the calls on a heap use.  So the code of a kind does not name another kind.
 *
 *   of this process   instance_private (instance_private.c)
 *   shared            instance_shared of the store; a tree without core/store has no such heap
 *   arena             instance_arena (instance_arena.c), with the calls of ashlar_heap.h alone
 *
 * heap_kind (backend/heap.h) has the differences that need no function, backend/shared.h the functions that the rooms
 * below this room call.
 */
#ifndef CORE_KIND_H
#define CORE_KIND_H

#include "backend/heap.h"
#include "heaps/benches.h"
#include "internal.h"

struct bin;
struct building;

struct instance_kind {
	/* ---- the calls of ashlar_heap.h.  In the table of arenas, h is the address of the struct arena ---- */

	void (*release)(struct heap *h, void *p);
	/* Allocates a block with the alignment of ash_aligned_alloc.  With `zero` the block reads zero. */
	void *(*alloc_as)(struct heap *h, size_t size, size_t alignment, bool zero);
	/* `call` is the public call's name, for misuse.  An alignment of 1 is that of ash_heap_resize. */
	void *(*resize)(struct heap *h, const char *call, void *p, size_t alignment, size_t size);
	size_t (*expand)(struct heap *h, void *p, size_t size);
	/* Returns the bytes of a block, which must belong to the heap, or 0 for NULL. */
	size_t (*bytes)(struct heap *h, const char *call, const void *p);
	size_t (*good_size)(size_t size);
	int (*walk)(struct heap *h, int (*see)(void *, void *, size_t, const struct ash_heap_owner *), void *context);
	bool (*extend)(struct heap *h, size_t capacity);
	size_t (*release_owner)(struct heap *h, uint64_t owner);
	uint64_t (*root)(struct heap *h);
	void (*set_root)(struct heap *h, uint64_t root);

	/* ---- the heap leaves the process ---- */

	void (*leave)(struct heap *h);
	/*
	 * The record o of a thread of this process leaves its seat for that reason.  `known` is the first word of the
	 * thread's page.
	 */
	void (*seat_closed)(struct heap *h, struct owner *o, uint64_t known);

	/* ---- of shared heaps only: in heaps of this process an indirect call would cost more than a test ---- */

	/* The body of ash_heap_alloc. */
	void *(*alloc)(struct heap *h, size_t size);
	/* As slot_take of instance_alloc.c. */
	void *(*slot_take)(struct owner *o, struct bin *b, bool *clean, void *draft);
	/* Complete building_begin and building_end (building.h). */
	void (*building_begin)(struct heap *h, struct owner *o, struct building *b);
	void (*building_end)(const struct building *b);

	/* ---- seats (seats.h) ---- */

	/* Gets a record for the calling thread's seat, which has none.  Returns NULL if it may not have a record. */
	struct owner *(*seat_fill)(struct heap *h, struct seat_entry *e);
	/* Called when the holder, which is building, is about to vacate the record. */
	void (*rests)(struct owner *o);
	/* Returns whether the caller interrupted a change of its record's own thread, which must keep the record. */
	bool (*is_busy)(const struct owner *o);
	/* Returns whether the heap is at rest: no thread has a record, and to take a record would be a change. */
	bool (*is_at_rest)(struct heap *h);
	/* Called when there is no memory, before the second attempt: takes over the records of dead threads. */
	void (*recover)(struct heap *h);
	/* Searches for memory that dead threads held, after their records were taken over.  o is the caller's record. */
	void (*search)(struct heap *h, struct owner *o);

	/* ---- blocks; a draft names a block before the program does; it may be NULL ---- */

	/* Called before and after another block is taken: `taken` gets the result of `taking`, and the block or NULL. */
	uint64_t (*taking)(struct heap *h, struct owner *self, const void *draft);
	void (*taken)(void *p, uint64_t word, void *draft);
	/* Releases a slot of the caller's own slab.  Returns false if nothing was done. */
	bool (*release_own)(struct heap *h, struct chunk *c, void *p);
	/*
	 * Releases any block, for the thread with the record `self`; o is the record, too, if it is checked out.  With
	 * `drafted` a draft names the block.  Returns false if the block is free.
	 */
	bool (*free_block)(struct heap *h, struct owner *o, struct owner *self, struct chunk *c, void *p, bool drafted);
	/* A block moves in a resize: gives `moved` what belongs to the block at p.  Returns false if there is no memory. */
	bool (*carry)(struct chunk *c, const void *p, void *moved);
};

#define INSTANCE_KINDS (PAGES_CALLERS + 1)
_Static_assert((int)SEATS_OF_PROCESS == (int)PAGES_PRIVATE && (int)SEATS_SHARED == (int)PAGES_SHARED, "instance_kind_of");

/*
 * The tables, by heap.sharing.  instance_set sets those of heaps of this process and of arenas, the store its own, before
 * the first heap of the kind exists.
 */
INTERNAL_EXTERN const struct instance_kind *instance_kinds[INSTANCE_KINDS];

/* Returns the table of a heap that is no arena.  Relaxed, for the reason in heap_hooks_now. */
static inline const struct instance_kind *instance_kind_of(const struct heap *h)
{
	return load_relaxed(&instance_kinds[seats_kind(h)]);
}

#endif
