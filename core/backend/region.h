/* SPDX-License-Identifier: MIT */
/*
 * Regions: address space, reserved in steps that grow with the heap, and the
 * runs of chunks in it.  Lock-free: a run is claimed by compare-and-swap on the words
 * of region.free; a failed one means that another thread succeeded.
 */
#ifndef CORE_REGION_H
#define CORE_REGION_H

#include "backend/run.h"
#include "internal.h"

#define SPAN_REGION ((size_t)16) /* chunks: the least span that gets a region of its size */

/*
 * Claims `n` adjacent free chunks, the first aligned to `alignment` chunks (a power
 * of two).  for_slabs: in a region with slab records.  Grows the heap by a region
 * if necessary.
 */
INTERNAL struct run region_claim(struct heap *h, size_t n, size_t alignment, bool for_slabs);

/* Claims a particular run, for growth in place. */
INTERNAL bool region_claim_at(struct run at, size_t n);

/* Frees the chunks.  clean: they read zero. */
INTERNAL void region_give(struct run run, size_t n, bool clean);

/* True: the run reads zero.  For the holder of the run. */
INTERNAL bool region_is_clean(struct run run, size_t n);
/* The number of its chunks that may not read zero. */
INTERNAL size_t region_dirty(struct run run, size_t n);

/*
 * Initialises r, in zeroed memory, as the one region record of a heap that does not
 * grow; its final address is `at`.  The result depends on the arguments only.
 */
INTERNAL void region_set(struct region *r, struct region *at, struct heap *h, char *base, size_t n,
		size_t remote_stride);
/* Marks all its chunks as free and zero. */
INTERNAL void region_open(struct region *r);

/* Unmaps each region that is entirely free; returns the bytes unmapped. */
INTERNAL size_t region_trim(struct heap *h);

/* The region whose chunks contain the address, for reports; NULL: none. */
INTERNAL struct region *region_of(struct heap *h, const void *p);
/* True: the address is in some region's metadata. */
INTERNAL bool region_metadata_holds(struct heap *h, const void *p);

#endif
