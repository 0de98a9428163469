/* SPDX-License-Identifier: MIT */
/*
 * Readers of a heap that is no arena: a walk over the live blocks, for any thread while others work; the check;
 * statistics.
 */
#ifndef CORE_BLOCKS_H
#define CORE_BLOCKS_H

#include "ashlar_heap.h"
#include "backend/heap.h"
#include "internal.h"

/* A live block, and the place of its bit. */
struct block_place {
	char *start;
	size_t size;
	const struct chunk *chunk; /* the first chunk of a span */
	const struct slab *slab;   /* NULL for a span           */
	size_t index;		   /* index of the slot         */
};

typedef int blocks_see(void *context, const struct block_place *at);

/*
 * Calls `see` for each block until that returns a value other than 0.  Returns the last value.  Each block that lives
 * throughout the walk is seen exactly once.  Each block that is seen was live, at this address and of this size, at a
 * moment after the last call of `see`.
 */
INTERNAL int blocks_walk(struct heap *h, blocks_see *see, void *context);

/*
 * Calls `see` for each span with its chunks, and for each slab as a whole (then chunks is 0 and `slab` is set),
 * whether or not the slab has blocks.
 */
typedef int blocks_part(void *context, const struct block_place *at, size_t chunks);
INTERNAL int blocks_parts(struct heap *h, blocks_part *see, void *context);

/* Finds the live span that begins with this chunk.  Returns false if there is no such span. */
INTERNAL bool blocks_span(const struct chunk *c, size_t *chunks, struct block_place *out);

/*
 * Finds the answer of ash_find to an address without a system call, and the block's place.  live: the caller is sure
 * that a block there is live (hardened products: guard_peek).
 */
INTERNAL void blocks_look(const void *p, bool live, struct ash_block *b, struct block_place *at);

/* ---- for heap_walk.c, which is an object of its own in the archives ---- */

struct found;
typedef int blocks_visit(void *context, void *block, size_t size, const struct ash_heap_owner *owner);

/* The body of ash_heap_walk. */
INTERNAL int ash_blocks_visit(ash_heap *heap, blocks_visit *see, void *context);

/* Finds the live block of the default heap that is nearest to an address outside all blocks. */
INTERNAL void ash_blocks_nearest(const void *p, struct found *out);

/* ---- blocks_check.c ---- */

/* The body of ash_check.  o is the caller's record, checked out, or NULL. */
INTERNAL int heap_check(struct heap *h, const struct owner *o);

/* ---- blocks_stats.c ---- */

/* The body of ash_stats. */
INTERNAL void heap_stats(struct heap *h, struct ash_statistics *out);

/* Figures of a slab.  If the slab was unmade during the count, all are 0 except the constants. */
struct stats_slab {
	unsigned class;
	size_t size; /* size of a slot */
	size_t bytes, slots, taken, pending;
};
INTERNAL struct stats_slab stats_of_slab(const struct slab *s);

/* Free memory outside all slabs that is not clean.  Adjacent units, or chunks, of a word are one run. */
struct stats_dirty {
	size_t bytes, runs;
};
INTERNAL void stats_of_dirty(struct heap *h, struct stats_dirty *out);

/* Counts the default heap by classes: the rows of ash_stats_class from `first` to `last`. */
struct class_rows {
	unsigned first, last;
	struct ash_class *rows;
};
INTERNAL void class_count(struct class_rows *to);

#endif
