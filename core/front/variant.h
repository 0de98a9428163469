/* SPDX-License-Identifier: MIT */
/*
 * The hooks of the calls, like those of the lower rooms in base/variant.h.  The calls of the hardened product are no
 * hooks: they are written out in core/hardened.
 */
#ifndef CORE_FRONT_VARIANT_H
#define CORE_FRONT_VARIANT_H

#include "base/variant.h"
#include "internal.h"

/* The sampled products: ashlar_sample.h. */
#if SAMPLED
#include "sample/sampler.h"

/* As sample_gone, if p starts a span. */
#define sample_span_gone(c, p) ((c) != NULL && span_is(c, p) ? sample_gone(p) : (void)0)
#else
#define sample_counts(bytes)	       false
#define sample_in(o, b)		       false
#define sample_slot(class)	       NULL
#define sample_large(p, bytes)	       ((void)(p), (void)(bytes))
#define sample_large_slot(p, class)    ((void)0)
#define sample_gone(p)		       ((void)0)
#define sample_slot_gone(p, s, owner)  ((void)0)
#define sample_span_gone(c, p)	       ((void)0)
#endif

/* The products with the names of malloc. */
#if IS_MALLOC
/*
 * The sizes of free_sized are checked.  resize_keeps notes that a block of `have` bytes stays in place with a smaller
 * size; resize_keeps_close the same of a size that may be of the same class.  resize_keeps_larger notes that a block
 * got a slot of a larger class because memory was short: from then on any block may have any smaller size.
 */
INTERNAL void resize_keeps(size_t have, size_t size);
INTERNAL void resize_keeps_larger(void);
#define resize_keeps_close(have, size) ((have) - (size) >= (have) / 16 ? resize_keeps(have, size) : (void)0)
/* Called for NULL, so that free need not test for NULL itself (malloc/malloc.c). */
INTERNAL void release_null(void);
#else
#define resize_keeps(have, size)       ((void)0)
#define resize_keeps_close(have, size) ((void)0)
#define resize_keeps_larger()	       ((void)0)
#define release_null()		       ((void)0)
#endif

/* The hardened product, in the diagnostics. */
#if IS_HARDENED
struct ash_block;
struct block_place;
/* Sets *size to the size of a live block.  Returns false if the block was released, or is damaged. */
INTERNAL bool block_peek(const struct block_place *at, size_t *size);
/*
 * Corrects the result of ash_find for a slot or span that is taken.  live: the caller is sure that the block is live.
 */
INTERNAL void block_look(struct ash_block *b, const struct block_place *at, bool live);
/* Returns false if a block of the default heap was written behind its end. */
INTERNAL bool blocks_are_whole(void);
#else
#define block_peek(at, to)	  (*(to) = (at)->size, true)
#define block_look(b, at, live) ((void)(live))
#define blocks_are_whole()	  true
#endif

#endif
