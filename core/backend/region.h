/* SPDX-License-Identifier: MIT */
/*
 * Regions: address space, reserved in steps that grow with the heap, and the
 * runs of chunks in it.  Lock-free: a run is claimed by swaps on the words of
 * region.free; who loses one lost it to a thread that got on.
 */
#ifndef CORE_REGION_H
#define CORE_REGION_H

#include "internal.h"
#include "backend/huge.h"

#define SPAN_REGION ((size_t)16) /* chunks: from here on a span gets a region of its size */

struct run {
	struct region *region; /* NULL: none */
	size_t first;	       /* chunk      */
};

/*
 * `n` free chunks in a row, the first aligned to `alignment` chunks (a power
 * of two).  for_slabs: where slab records exist.  Grows the heap by a region
 * if it must.
 */
INTERNAL struct run region_claim(struct heap *h, size_t n, size_t alignment, bool for_slabs);

/* A particular run, for growth in place. */
INTERNAL bool region_claim_at(struct run at, size_t n);

/* Gives the chunks back.  clean: they read zero. */
INTERNAL void region_give(struct run run, size_t n, bool clean);

/* The run reads zero.  For whoever holds it. */
INTERNAL bool region_is_clean(struct run run, size_t n);
/* Chunks of it that may not. */
INTERNAL size_t region_dirty(struct run run, size_t n);

/*
 * The advice of huge.h for the run; a system call only where that changes
 * something, and adds no border too many.  For whoever holds the run.  Of no
 * advice what remains is that huge pages are not asked for any more.
 */
INTERNAL void region_advise(struct run run, size_t n, enum advice advice);
/* The memory was moved there, and the advice with it, or not, if it was copied. */
INTERNAL void region_moved(struct run from, struct run to, size_t n);

static inline char *run_base(struct run run)
{
	return run.region->base + (run.first << CHUNK_SHIFT);
}

static inline struct chunk *run_chunk(struct run run)
{
	return region_chunk(run.region, run.first);
}

/*
 * Writes the one region of a heap that does not grow, which will stand at `at`;
 * r: zeroed memory there or elsewhere.  All of it follows from the arguments.
 */
INTERNAL void region_set(struct region *r, struct region *at, struct heap *h, char *base, size_t n,
			 size_t remote_stride);
/* All its chunks are free and zero from now on. */
INTERNAL void region_open(struct region *r);

/* Returns to the system each region that is free throughout; the bytes returned. */
INTERNAL size_t region_trim(struct heap *h);

/* The region whose chunks hold the address, for reports; NULL: none. */
INTERNAL struct region *region_of(struct heap *h, const void *p);
/* True: the address is in some region's metadata. */
INTERNAL bool region_metadata_holds(struct heap *h, const void *p);

#endif
