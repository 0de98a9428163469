/* SPDX-License-Identifier: MIT */
/*
 * The address space of regions: mapping it, and giving it back.
 *
 *   usual    |...s...|...s...|..free..|..free..|    many chunks, reserved ahead
 *                            ^ cut, when addresses are short
 *   alone    |==== span ====|                       one span, from SPAN_ALONE chunks on, or if
 *                                                   addresses are short: exactly its bytes.  It
 *                                                   goes with the span.
 *
 * Addresses are short (a hint) if the heap could not have SHORT_PART times of what it has, as under
 * RLIMIT_AS.  Then it reserves little ahead, gives back what becomes free, and a span that would
 * leave much of its last chunk unused is alone.
 */
#ifndef CORE_REGION_SPACE_H
#define CORE_REGION_SPACE_H

#include "backend/heap.h"
#include "internal.h"

#define SPAN_ALONE ((size_t)512) /* chunks: 1 GiB */
#define SHORT_PART 16
#define SPARE_PART 64 /* of a span: what its last chunk may leave, or it is alone */
#define ALONE_MOST (IS_HARDENED ? 1024 : 8192) /* regions: a search for memory passes them all; each large block of a hardened product is one */

/* True: addresses are short. */
INTERNAL_EXTERN uint64_t region_addresses_short;

static inline bool region_short(void)
{
	return !SMALL && load_relaxed(&region_addresses_short) != 0;
}

/* True: and a span that fills its chunks badly, or a large slot's block, is to be alone. */
INTERNAL bool region_is_exact(void);

static inline bool region_exact(void)
{
	return region_short() && region_is_exact();
}

/* What a new region is to be. */
struct region_plan {
	size_t chunks, alignment; /* the latter in chunks, too */
	size_t claimed;		  /* the first ones are the caller's, so that it is guaranteed to get them */
	bool slabs;		  /* with slab records */
	size_t alone;		  /* see region_alone */
};

/* NULL: no memory, or not within the cap. */
INTERNAL struct region *region_create(struct heap *h, const struct region_plan *plan);

/*
 * Unmaps what is free at the region's end; if all is, the region goes.  Returns the bytes.  The
 * holder of its last chunk is the only one who changes region.chunks.
 */
INTERNAL size_t region_cut(struct heap *h, struct region *r);

/* Unmaps a region of a heap that goes. */
INTERNAL void region_unmap(struct region *r);

/* Unmaps each region that is entirely free; tails: also free ends of others.  Returns the bytes. */
INTERNAL size_t region_trim(struct heap *h, bool tails);

/* A span's own region gets so many bytes, in place.  For the span's holder.  False: no change. */
INTERNAL bool region_extend(struct region *r, size_t bytes);
INTERNAL bool region_shrink(struct region *r, size_t bytes);

/* Finds out whether addresses are short, before the heap grows by so many chunks. */
INTERNAL void region_look_ahead(const struct heap *h, size_t chunks);

/* False: so many bytes could not be had even if all that is free were given back. */
INTERNAL bool region_may_help(const struct heap *h, size_t bytes);

static inline bool region_hopeful(const struct heap *h, size_t size)
{
	return SMALL || region_may_help(h, size);
}

#endif
