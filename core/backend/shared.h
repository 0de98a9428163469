/* SPDX-License-Identifier: MIT */
/*
 * Shared heaps: heaps in memory that other processes map, too.  The allocator works in them as in a heap of its own.
 * Where another process must see a change that is half done, or a process may die, it calls these functions of the
 * library that made the heap (core/store).  This page has all that the allocator calls of that library.  The allocator
 * has room for it in base/roll.h (bits of the holder word), heaps/benches.h (`known`, `word`), backend/hold.h and
 * heaps/building.h.
 *
 * heap_kind says which heaps these are: the records of all others are this process's own.
 */
#ifndef CORE_SHARED_H
#define CORE_SHARED_H

#include "backend/heap.h"
#include "internal.h"

struct bin;
struct building;
struct seat_entry;
struct slot_ref;

struct shared_hooks {
	/* ---- chunks, slabs, records ---- */

	/* Called when the record of the first of n claimed chunks becomes known, see region_know. */
	void (*run_made)(struct region *r, size_t first, size_t n);
	/* Called when a slab is about to be published. */
	void (*slab_made)(struct slab *s);
	/* Returns zeroed memory for another owner record, or NULL. */
	void *(*owner_memory)(struct heap *h);
	/* owner_made: the record is complete.  owner_after returns the next complete record. */
	void (*owner_made)(struct owner *o);
	struct owner *(*owner_after)(struct heap *h, const struct owner *o);

	/* ---- holders, and what they are doing ---- */

	/* Returns the calling thread's holder word (base/roll.h). */
	uint64_t (*holder)(struct heap *h);
	/* Returns true if the holder has died. */
	bool (*is_dead)(struct heap *h, uint64_t holder);
	/* Completes the work that a dead holder of the record left half done; the caller holds the record now. */
	void (*settle)(struct owner *v);
	/* Notes the memory that the calling thread is about to take, or drops the note (backend/hold.h). */
	void (*hold)(struct heap *h, uint64_t what, bool notes);
	/* See heaps/building.h. */
	void (*building_begin)(struct heap *h, struct owner *o, struct building *b);
	void (*building_end)(const struct building *b);
	/* Returns true if no live thread is changing units, chunks or slabs. */
	bool (*is_quiet)(struct heap *h);

	/* ---- seats (heaps/seats.h) ---- */

	/* Gets a record for the calling thread's seat, which has none.  Returns NULL if it may not have a record. */
	struct owner *(*seat_fill)(struct heap *h, struct seat_entry *e);
	/* Called when the holder, which is building, is about to vacate the record. */
	void (*rests)(struct owner *o);
	/*
	 * Vacates the record of a thread of this process, because the heap leaves the process.  `known` is the first
	 * word of the thread's page.
	 */
	void (*seat_closed)(struct heap *h, struct owner *o, uint64_t known);
	/* Returns whether the caller interrupted a change of its record's own thread, which must keep the record. */
	bool (*is_busy)(const struct owner *o);
	/* Returns whether the heap is at rest: no thread has a record, and to take a record would be a change. */
	bool (*is_at_rest)(struct heap *h);

	/* ---- blocks; a draft is what names a block before the program does, or NULL ---- */

	/* The bodies of ash_heap_alloc and ash_heap_release. */
	void *(*alloc)(struct heap *h, size_t size);
	void (*release)(struct heap *h, void *p);
	/* As slot_take of heaps/instance_alloc.c. */
	void *(*slot_take)(struct owner *o, struct bin *b, bool *clean, void *draft);
	/* Called before and after another block is taken: `taken` gets the result of `taking`, and the block. */
	uint64_t (*taking)(struct heap *h, struct owner *self, const void *draft);
	void (*taken)(void *p, uint64_t word, void *draft);
	/* Like release_own of heaps/instance_release.c, and also releases slots of other owners' slabs. */
	bool (*release_own)(struct heap *h, struct chunk *c, void *p);
	/* Called before the holder of the record releases another block, and with NULL afterwards. */
	void (*releasing)(struct owner *o, const void *p);
	/* Releases a slot of an unowned slab, for the thread with this record.  Returns false if the slot is free. */
	bool (*free_unowned)(struct heap *h, struct owner *self, const struct slot_ref *at);
	/*
	 * Releases a slot of another owner's slab, for the thread with the record `self`; o is the record, too, if it is
	 * checked out.  With `drafted` a draft names the block.  Returns false if the slot is free.
	 */
	bool (*free_remote)(struct heap *h, struct owner *o, struct owner *self, const struct slot_ref *at, bool drafted);
	/* A block moves in a resize: gives `moved` what belongs to the block at p.  Returns false if there is no memory. */
	bool (*carry)(struct chunk *c, const void *p, void *moved);

	/* ---- whole heaps ---- */

	/* Completes ash_find: returns the number of the process that allocated the block. */
	uint64_t (*block_owner)(const struct block_place *at);
	/* Like ash_heap_walk. */
	int (*walk)(struct heap *h, int (*see)(void *, void *, size_t, const struct ash_heap_owner *), void *context);
	/* Searches for memory that dead threads held, after their records were taken over.  o is the caller's record. */
	void (*search)(struct heap *h, struct owner *o);
	/* The bodies of ash_heap_extend and ash_heap_release_owner. */
	bool (*extend)(struct heap *h, size_t capacity);
	size_t (*release_owner)(struct heap *h, uint64_t owner);
	/* Returns heap.root; and is called before heap.root changes. */
	uint64_t (*root)(struct heap *h);
	void (*root_changes)(struct heap *h);
	/* The heap, in which no thread has a seat, leaves the process. */
	void (*leave)(struct heap *h);
};
INTERNAL_EXTERN const struct shared_hooks *shared_hooks;

/* Relaxed, for the reason in heap_hooks_now.  NULL before the first shared heap. */
static inline const struct shared_hooks *shared_hooks_now(void)
{
	return load_relaxed(&shared_hooks);
}

#endif
