/* SPDX-License-Identifier: MIT */
/*
 * The calls of ashlar_heap.h on an arena, with their checks.  A pointer that is no block of the arena is
 * misuse of `call`.
 */
#ifndef CORE_ARENA_CALL_H
#define CORE_ARENA_CALL_H

#include "arena/arena.h"

/*
 * Allocates a block, aligned as by ash_aligned_alloc; if `zero`, the block reads zero.  Returns NULL if there
 * is no memory.
 */
INTERNAL void *arena_call_alloc(struct arena *a, size_t size, size_t alignment, bool zero);
/* Changes the size of block p in place, to at most PTRDIFF_MAX; returns false if that is not possible. */
INTERNAL bool arena_fit(struct arena *a, void *p, size_t size);
/* Changes the size in place or elsewhere.  Returns NULL if there is no memory; then the block is intact. */
INTERNAL void *arena_resize(struct arena *a, void *p, size_t size, size_t alignment);
INTERNAL void *arena_call_resize(struct arena *a, const char *call, void *p, size_t alignment,
				 size_t size);
/* Changes the size in place; returns the new number of bytes, or 0 if that is not possible. */
INTERNAL size_t arena_call_expand(struct arena *a, void *p, size_t size);
INTERNAL void arena_call_release(struct arena *a, const char *call, void *p);
/* Releases the block after a check of alignment and size. */
INTERNAL void arena_call_release_as(struct arena *a, const char *call, void *p, size_t alignment,
				    size_t size);
/* Returns the bytes of the block at p; 0 for NULL. */
INTERNAL size_t arena_call_bytes(const struct arena *a, const char *call, const void *p);

/* Like ash_heap_good_size. */
static inline size_t arena_good_size(size_t size)
{
	if (size > PTRDIFF_MAX)
		return 0;
	return size <= GRANULE ? GRANULE : (size + GRANULE - 1) & ~(GRANULE - 1);
}

/*
 * Prints one fixed line that tells the fault of the pointer, which lies in the arena's memory, and ends the
 * process (base/misuse.h).
 */
INTERNAL _Noreturn void arena_misuse(const struct arena *a, const char *call, const void *p);

/* The readers of an arena: all its blocks, as ash_heap_walk and ash_heap_stats report them; its check. */

INTERNAL int arena_walk(struct arena *a,
			int (*see)(void *, void *, size_t, const struct ash_heap_owner *),
			void *context);
/* Like ash_find, for an address among the arena's granules. */
INTERNAL struct ash_block arena_find(const struct arena *a, const void *p);
INTERNAL void arena_stats(struct arena *a, struct ash_statistics *out);
/* A visitor for arena_walk that adds a block to the blocks and block_bytes of a struct ash_statistics. */
INTERNAL int arena_count(void *out, void *block, size_t size, const struct ash_heap_owner *owner);

/*
 * Like ash_heap_check: returns the number of an invariant (I11, I12 in DESIGN.md) that does not hold, or 0.
 */
INTERNAL int arena_check(const struct arena *a);

#endif
