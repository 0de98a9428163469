/* SPDX-License-Identifier: MIT */
/*
 * Regions: address space, reserved in steps that grow with the heap, and the
 * runs of chunks in it.  Lock-free: a run is claimed by compare-and-swap on the words
 * of region.free; a failed one means that another thread succeeded.
 */
#ifndef CORE_REGION_H
#define CORE_REGION_H

#include "backend/heap.h"
#include "internal.h"

/* ---- region_advice.c ---- */

/* The advice about huge pages: the policy, and what the kernel was given for each chunk (region.advice). */

enum advice {
	ADVICE_NONE,  /* the system's setting decides */
	ADVICE_HUGE,
	ADVICE_PLAIN, /* no huge pages, whatever the setting */
	ADVICE_UNKNOWN,
	ADVICE_LOST /* no advice: whose addresses these are is unknown, see run_lose in front/span.c */
};

/* Flags in region.advice.  Of a span's first chunk: the span, also when it grows, may stay sparse. */
#define ADVICE_SPARSE 0x80
/* Of a free chunk that is not clean: behind its head it reads zero, see region_give. */
#define ADVICE_HEAD   0x40
/*
 * Of a chunk that is not clean: no other block has had it since a zeroed span took it, and that was not resized.
 * So its contents tell whether it was written.  Those of other blocks do not, because programs write zeros, too.
 */
#define ADVICE_TELLS  0x20
#define ADVICE_FLAGS  (ADVICE_SPARSE | ADVICE_HEAD | ADVICE_TELLS)

enum huge_use {
	HUGE_MIXED,  /* a chunk of slabs, parts of which may never be touched */
	HUGE_SLABS,  /* a chunk of slabs that will be full */
	HUGE_FILLED, /* a span that will be written */
	HUGE_ZEROED  /* a zeroed span, which may stay sparse */
};

/*
 * The whole policy.  A huge page costs 2 MiB at its first byte, and saves 511 page
 * faults and TLB entries if all of it is used.  bytes: the size of a span.
 */
INTERNAL enum advice huge_policy(const struct heap *h, enum huge_use use, size_t bytes);

/*
 * Advice splits mappings, whose number is limited (65 530 by default).  So this limits
 * the borders between chunks of different advice in a heap; advice that would exceed
 * it is not given.
 */
#define HUGE_BORDERS 100

/*
 * Gives advice for the run, for its holder; makes a system call only if that
 * changes something and stays within HUGE_BORDERS.  ADVICE_NONE cannot be restored
 * exactly: the run merely stops asking for huge pages.
 */
INTERNAL void region_advise(struct run run, size_t n, enum advice advice);
/* Records that the advice of both runs is unknown: mremap moves it along, a copy does not. */
INTERNAL void region_moved(struct run from, struct run to, size_t n);
/* Records advice without a system call, for the holder of the run. */
INTERNAL void region_advised(struct run run, size_t n, enum advice advice);
/* The same of a run that goes, at its region's end: the next mapping has no advice. */
INTERNAL void region_unadvised(struct run run, size_t n);
/* The contents of the run's chunks tell from now on whether they were written, or do not (ADVICE_TELLS).  For its holder. */
INTERNAL void region_tells(struct run run, size_t n, bool tells);
/* True: a part of its addresses is lost (ADVICE_LOST), so it must not be unmapped. */
INTERNAL bool region_is_lost(const struct region *r);

/* ---- region.c ---- */

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
	return (load_relaxed(&run.region->advice[run.first]) & ADVICE_HEAD) != 0;
}

/* True: the contents of the chunk tell whether it was written (ADVICE_TELLS).  For its holder. */
static inline bool region_is_telling(struct run run)
{
	return (load_relaxed(&run.region->advice[run.first]) & ADVICE_TELLS) != 0;
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

/* ---- region_space.c ---- */

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

#define SPAN_ALONE ((size_t)512) /* chunks: 1 GiB */
#define SHORT_PART 16
#define SPARE_PART 64 /* of a span: what its last chunk may leave, or it is alone */
#define ALONE_MOST (IS_HARDENED ? 1024 : 8192) /* regions: a search for memory passes them all; each large block of a hardened product is one */

/* True: addresses are short. */
INTERNAL_EXTERN uint64_t region_addresses_short;

static inline bool region_short(void)
{
	return load_relaxed(&region_addresses_short) != 0;
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

/* Returns whether the heap's cap leaves room for more chunks; other threads may take them first. */
INTERNAL bool region_is_below_cap(const struct heap *h, size_t chunks);

/* Finds out whether addresses are short, before the heap grows by so many chunks. */
INTERNAL void region_look_ahead(const struct heap *h, size_t chunks);

/* False: so many bytes could not be had even if all that is free were given back. */
INTERNAL bool region_may_help(const struct heap *h, size_t bytes);

#endif
