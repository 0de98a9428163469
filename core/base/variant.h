/* SPDX-License-Identifier: MIT */
/*
 * Hooks: the places where a product does more than the others, or something else.  The caller of a hook is the same
 * in all products.  A hook is defined for its product, and for all others, where it does nothing or the usual thing.  The
 * hooks of the calls themselves are in front/variant.h.
 */
#ifndef CORE_BASE_VARIANT_H
#define CORE_BASE_VARIANT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "internal.h"

struct heap;
struct owner;
struct slab;

/* A shared object may be called before its relocation (prereloc.h): then the seat's `self` is NULL. */
#define seat_is_missing(o) (IS_SO && unlikely((o) == NULL))

/*
 * Samples of large blocks are known by address and size: such a block stays in a slab of one slot, and does not grow
 * into another slab.
 */
#define large_is_pinned() SAMPLED

#if IS_HARDENED
/* The hardened product: each measure has a file in core/hardened. */
#include "chance.h"

/* State of an owner record, for its holder.  A takeover does not change this state. */
struct hardened {
	struct quarantine *quarantine; /* hardened/quarantine.c; NULL until the first use */
	struct chances chances;	       /* chance.h */
};

/* Returns whether free memory of this heap reads zero, because released blocks are cleared (hardened/zero.c). */
#define heap_reads_zero(h) ((h) == &heap_default)
/* Reports misuse if free memory of such a heap does not read zero.  For memory that goes out of use. */
INTERNAL void heap_compare(const struct heap *h, const char *p, size_t bytes);
/* The heap is about to get another chunk for slabs: sometimes compares all free units. */
INTERNAL void chunks_compare(struct heap *h);

/* Returns whether each span shall have a region of its own (ALONE_MOST in backend/region.h). */
#define spans_are_apart() region_is_exact()

/* Choose a run of free units, a ready group of a current slab, and a free slot of the group: at random. */
#define units_choose(runs)	bits_any(runs, (unsigned)(chance() >> 58))
#define group_choose(o, ready)                                                                 \
	(chances_settle(&(o)->hardened->chances), bits_any(ready, chance_some(&(o)->hardened->chances)))
#define slot_choose(o, word)	bits_any(word, chance_some(&(o)->hardened->chances))
/* Returns whether a child of fork must draw other numbers than its parent, from the first record on. */
#define owner_draws()		true
/* A thread gets this record: it draws anew. */
#define owner_draws_anew(o)	((void)((o)->hardened->chances.drawn = CHANCES_NONE))

/* Returns whether the slab, for blocks of size 0, is without access (hardened/fence.c). */
INTERNAL bool slab_is_fenced(const struct slab *s);
/*
 * Takes access from such a slab, or gives it back.  Returns false if access cannot be given back now, so that the slab
 * cannot be unmade.
 */
INTERNAL bool slab_fence(const struct slab *s, bool fenced);
/* The record got another slab of this class: compares the quarantine of the class, and sometimes makes a fence. */
INTERNAL void bin_grew(struct owner *o, unsigned class);
/* Retires the fences of a record that becomes vacant. */
INTERNAL void fences_shrink(struct owner *o);

/*
 * Releases all blocks in the thread's quarantine.  If they exceed the room there, does so as a release would
 * (hardened/quarantine.c).
 */
INTERNAL void quarantine_empty(void);
/* Releases also the blocks in the quarantines of vacant records and of threads that are found to have ended. */
INTERNAL void quarantines_empty(void);
#else
struct hardened {
	char none;
};
#define heap_reads_zero(h)	   false
#define heap_compare(h, p, bytes)  ((void)0)
#define chunks_compare(h)	   ((void)0)
#define spans_are_apart()	   false
#define units_choose(runs)	   bits_lowest(runs)
#define group_choose(o, ready)	   cpu_lowest_bit(ready)
#define slot_choose(o, word)	   cpu_lowest_bit(word)
#define owner_draws()		   false
#define owner_draws_anew(o)	   ((void)0)
#define slab_is_fenced(s)	   false
#define slab_fence(s, fenced)	   true
#define bin_grew(o, class)	   ((void)0)
#define fences_shrink(o)	   ((void)0)
#define quarantine_empty()	   ((void)0)
#define quarantines_empty()	   ((void)0)
#endif

#endif
