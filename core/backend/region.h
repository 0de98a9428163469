/* SPDX-License-Identifier: MIT */
/*
 * Regions: address space, reserved in steps that grow with the heap, and the runs of chunks in it.
 * Lock-free: a thread claims a run by compare-and-swap on the words of region.free; a failed compare-and-swap
 * means that another thread succeeded.
 */
#ifndef CORE_REGION_H
#define CORE_REGION_H

#include "backend/heap.h"
#include "internal.h"

/* ---- region_advice.c ---- */

/* Advice about huge pages: the policy, and the advice that the kernel got for each chunk (region.advice). */

enum advice {
	ADVICE_NONE,  /* the system's setting decides */
	ADVICE_HUGE,
	ADVICE_PLAIN, /* no huge pages, whatever the setting is */
	ADVICE_UNKNOWN,
	ADVICE_LOST /* no advice: these addresses may be another mapping's, see run_lose in front/span.c */
};

/*
 * Flags in region.advice.  This flag of a span's first chunk: the span, also when it grows, may stay sparse.
 */
#define ADVICE_SPARSE 0x80
/* Flag of a free chunk that is not clean: the chunk reads zero behind its head, see region_give. */
#define ADVICE_HEAD   0x40
/*
 * Flag of a chunk that is not clean: no other block has had the chunk since a zeroed span took it, and the
 * span was not resized.  So the contents tell whether the chunk was written.  Contents of other blocks do not
 * tell it, because programs write zeros, too.
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
 * The whole policy.  A huge page costs 2 MiB at its first byte, and saves 511 page faults and TLB entries if
 * all of it is used.  `bytes` is the size of a span.
 */
INTERNAL enum advice huge_policy(const struct heap *h, enum huge_use use, size_t bytes);

/*
 * Advice splits mappings, whose number is limited (65 530 by default).  So this limits the borders between
 * chunks of different advice in a heap; advice that would exceed the limit is not given.
 */
#define HUGE_BORDERS 100

/*
 * Gives advice for the run; for the run's holder.  Makes a system call only if the advice changes and the
 * borders stay within HUGE_BORDERS.  ADVICE_NONE cannot be restored exactly: the run merely stops asking for
 * huge pages.
 */
INTERNAL void region_advise(struct run run, size_t n, enum advice advice);
/* Records that the advice of both runs is unknown, because mremap moves advice along and a copy does not. */
INTERNAL void region_moved(struct run from, struct run to, size_t n);
/* Records advice without a system call, for the holder of the run. */
INTERNAL void region_advised(struct run run, size_t n, enum advice advice);
/* Records that a run at its region's end is unmapped: the next mapping there has no advice. */
INTERNAL void region_unadvised(struct run run, size_t n);
/*
 * Sets whether the contents of the run's chunks tell if they were written (ADVICE_TELLS).  For the run's
 * holder.
 */
INTERNAL void region_tells(struct run run, size_t n, bool tells);
/*
 * Returns true if a part of the region's addresses is lost (ADVICE_LOST), so that the region must not be
 * unmapped.
 */
INTERNAL bool region_is_lost(const struct region *r);

/* ---- region.c ---- */

#define SPAN_REGION ((size_t)16) /* chunks of the smallest span that gets a region of its size */

/*
 * Claims `n` adjacent free chunks, the first aligned to `alignment` chunks (a power of two).  If for_slabs,
 * claims them in a region with slab records.  Grows the heap by a region if necessary.
 */
INTERNAL struct run region_claim(struct heap *h, size_t n, size_t alignment, bool for_slabs);

/* Like region_claim, for a span of these bytes, a multiple of PAGE_MOST, perhaps in a region of its own. */
INTERNAL struct run region_claim_bytes(struct heap *h, size_t bytes, size_t alignment, bool for_slabs);

/* Claims a particular run, for growth in place. */
INTERNAL bool region_claim_at(struct run at, size_t n);

/*
 * Called before the record of the first of n claimed chunks is set.  In a file that another program wrote, a
 * record that was never known may have any contents; afterwards the records of the run read zero.
 */
INTERNAL void region_know(struct run run, size_t n);

/*
 * Returns the next chunk from i on whose record may be read, or SIZE_MAX.  The end is not region.chunks,
 * because a caller that read a larger region.chunks before the region was cut would reach it again and again.
 */
INTERNAL size_t region_next_known(const struct region *r, size_t i);

enum left {
	LEFT_DIRTY,
	LEFT_CLEAN, /* the chunks read zero                                                    */
	LEFT_HEAD   /* the chunks read zero behind the first chunk's head, which is resident: two pages,
		       because most blocks begin with written bytes */
};
#define REGION_HEAD (2 * PAGE_SIZE)

/* Frees the chunks. */
INTERNAL void region_give(struct run run, size_t n, enum left left);

/* Returns true if the chunk, which is free or just claimed, is not clean but reads zero behind its head. */
static inline bool region_has_head(struct run run)
{
	return (load_relaxed(&run.region->advice[run.first]) & ADVICE_HEAD) != 0;
}

/*
 * Returns true if the contents of the chunk tell whether it was written (ADVICE_TELLS).  For the chunk's
 * holder.
 */
static inline bool region_is_telling(struct run run)
{
	return (load_relaxed(&run.region->advice[run.first]) & ADVICE_TELLS) != 0;
}

/* Returns true if the run reads zero.  For the run's holder. */
INTERNAL bool region_is_clean(struct run run, size_t n);
/* Returns the number of the run's chunks that may not read zero. */
INTERNAL size_t region_dirty(struct run run, size_t n);

/*
 * Initialises r, in zeroed memory, as the only region record of a heap that does not grow; its final address
 * is `at`.  The result depends on the arguments only.
 */
INTERNAL void region_set(struct region *r, struct region *at, struct heap *h, char *base, size_t n,
		size_t remote_stride);
/* Marks all chunks of the region as free and zero. */
INTERNAL void region_open(struct region *r);

/* Returns the region whose chunks contain the address, for reports, or NULL. */
INTERNAL struct region *region_of(struct heap *h, const void *p);
/*
 * Returns the chunk of an arbitrary address, according to the heap's file.  Returns NULL if the address is
 * not in this heap, or the chunk's record is not known.
 */
INTERNAL struct chunk *region_find(struct heap *h, const void *p);
/* Returns true if the address is in the metadata of a region. */
INTERNAL bool region_metadata_holds(struct heap *h, const void *p);

/* ---- region_space.c ---- */

/*
 * The address space of regions: mapping it, and giving it back.
 *
 *   usual    |...s...|...s...|..free..|..free..|    many chunks, reserved ahead
 *                            ^ cut, when addresses are short
 *   alone    |==== span ====|                       one span, from SPAN_ALONE chunks on, or if
 *                                                   addresses are short: exactly its bytes,
 *                                                   unmapped with the span
 *
 * Addresses are short (a hint) if the heap could not have SHORT_PART times its present memory, for example
 * under RLIMIT_AS.  Then the heap reserves little ahead and gives back what becomes free, and a span that
 * would leave much of its last chunk unused is alone.
 */

#define SPAN_ALONE ((size_t)512) /* chunks: 1 GiB */
#define SHORT_PART 16
#define SPARE_PART 64 /* a span may leave this part of its size unused in its last chunk; otherwise it is alone */
#define ALONE_MOST (IS_HARDENED ? 1024 : 8192) /* regions: a search for memory passes them all; each large
						  block of a hardened product has one */

/* 1 if addresses are short. */
INTERNAL_EXTERN uint64_t region_addresses_short;

static inline bool region_short(void)
{
	return load_relaxed(&region_addresses_short) != 0;
}

/*
 * Returns true unless ALONE_MOST spans are alone.  If addresses are short, too, a span that fills its chunks
 * badly, or a large slot's block, gets a region of its own.
 */
INTERNAL bool region_is_exact(void);

static inline bool region_exact(void)
{
	return region_short() && region_is_exact();
}

/* The properties of a new region. */
struct region_plan {
	size_t chunks, alignment; /* alignment is in chunks, too */
	size_t claimed;		  /* the caller's, from the first one on, so that the caller is guaranteed to get them */
	bool slabs;		  /* with slab records */
	size_t alone;		  /* see region_alone */
};

/* Returns NULL if there is no memory, or the cap would be exceeded. */
INTERNAL struct region *region_create(struct heap *h, const struct region_plan *plan);

/*
 * Unmaps the free chunks at the region's end; if all chunks are free, the region is retired.  Returns the
 * number of bytes.  Only the holder of the region's last chunk changes region.chunks.
 */
INTERNAL size_t region_cut(struct heap *h, struct region *r);

/* Unmaps a region of a heap that is destroyed. */
INTERNAL void region_unmap(struct region *r);

/*
 * Unmaps each region that is entirely free; tails: also free ends of other regions.  Returns the number of
 * bytes.
 */
INTERNAL size_t region_trim(struct heap *h, bool tails);

/*
 * Changes the size of a span's own region to `bytes`, in place; for the span's holder.  Returns false,
 * without a change, if that is not possible.
 */
INTERNAL bool region_extend(struct region *r, size_t bytes);
INTERNAL bool region_shrink(struct region *r, size_t bytes);

/* Returns whether the heap's cap leaves room for more chunks; other threads may take them first. */
INTERNAL bool region_is_below_cap(const struct heap *h, size_t chunks);

/* Finds out whether addresses are short, before the heap grows by `chunks`. */
INTERNAL void region_look_ahead(const struct heap *h, size_t chunks);

/* Returns false if `bytes` could not be had even if all free memory were given back. */
INTERNAL bool region_may_help(const struct heap *h, size_t bytes);

#endif
