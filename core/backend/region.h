/* SPDX-License-Identifier: MIT */
/*
 * Regions: address space, reserved in steps that grow with the heap, and the
 * runs of chunks in it.  Lock-free: a run is claimed by compare-and-swap on the words
 * of region.free; a failed one means that another thread succeeded.
 */
#ifndef CORE_REGION_H
#define CORE_REGION_H

#include "backend/heap.h"
#include "backend/region_advice.h"
#include "backend/region_space.h"
#include "internal.h"

#define SPAN_REGION ((size_t)16) /* chunks: the least span that gets a region of its size */

/*
 * Claims `n` adjacent free chunks, the first aligned to `alignment` chunks (a power
 * of two).  for_slabs: in a region with slab records.  Grows the heap by a region
 * if necessary.
 */
INTERNAL struct run region_claim(struct heap *h, size_t n, size_t alignment, bool for_slabs);

/* The same for a span of these bytes, a multiple of PAGE_MOST, perhaps in a region of its own. */
INTERNAL struct run region_claim_bytes(struct heap *h, size_t bytes, size_t alignment, bool for_slabs);

/* Claims a particular run, for growth in place. */
INTERNAL bool region_claim_at(struct run at, size_t n);

/*
 * The record of the first chunk of n that were claimed is about to be set.  In a file that another program
 * wrote, records that were never known may have anything; afterwards those of the run read zero.
 */
INTERNAL void region_know(struct run run, size_t n);

/*
 * The next chunk from i on whose record may be read; SIZE_MAX: there is none.  Not region.chunks: a caller
 * that read more, before the region was cut, would come to it again and again.
 */
INTERNAL size_t region_next_known(const struct region *r, size_t i);

enum left {
	LEFT_DIRTY,
	LEFT_CLEAN, /* the chunks read zero                                                    */
	LEFT_HEAD   /* so they do behind the first one's head, which is resident: two pages, as
		       most blocks begin with what is written                                  */
};
#define REGION_HEAD (2 * PAGE_SIZE)

/* Frees the chunks. */
INTERNAL void region_give(struct run run, size_t n, enum left left);

/* True: the free or just claimed chunk is not clean, but reads zero behind its head. */
static inline bool region_has_head(struct run run)
{
	return !SMALL && (load_relaxed(&run.region->advice[run.first]) & ADVICE_HEAD) != 0;
}

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

/* The region whose chunks contain the address, for reports; NULL: none. */
INTERNAL struct region *region_of(struct heap *h, const void *p);
/*
 * The chunk of an address that may be anything, as the heap's file has it; NULL: none of this heap, or
 * its record is not known.
 */
INTERNAL struct chunk *region_find(struct heap *h, const void *p);
/* True: the address is in some region's metadata. */
INTERNAL bool region_metadata_holds(struct heap *h, const void *p);

#endif
