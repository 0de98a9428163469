/* SPDX-License-Identifier: MIT */
/*
 * Shared heaps: heaps in memory that other processes map, too.  The allocator works in them as in a heap of its own.
 * Where another process must see a change that is half done, or a process may die, it calls these functions of the
 * library that made the heap (core/store).  This page and heaps/kind.h have all that the allocator calls of that library.
 * The allocator has room for it in base/roll.h (bits of the holder word), heaps/benches.h (`known`, `word`),
 * backend/hold.h and heaps/building.h.
 *
 * heap_kind says which heaps these are: the records of all others are this process's own.
 */
#ifndef CORE_SHARED_H
#define CORE_SHARED_H

#include "backend/heap.h"
#include "internal.h"

struct block_place;

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
	/* Returns true if no live thread is changing units, chunks or slabs. */
	bool (*is_quiet)(struct heap *h);

	/* For ash_find: returns the number of the process that allocated the block. */
	uint64_t (*block_owner)(const struct block_place *at);
};
INTERNAL_EXTERN const struct shared_hooks *shared_hooks;

/* Relaxed, for the reason in heap_hooks_now.  NULL before the first shared heap. */
static inline const struct shared_hooks *shared_hooks_now(void)
{
	return load_relaxed(&shared_hooks);
}

#endif
