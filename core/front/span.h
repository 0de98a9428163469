/* SPDX-License-Identifier: MIT */
/*
 * Spans: blocks above 1 MiB, as runs of whole chunks.
 *
 *   |<------ chunk ------>|<------ chunk ------>|
 *   |============ span_bytes ==========|  tail  |
 *
 * The tail is not used.  The tail costs address space, and memory only if an earlier block left resident pages there
 * (span_set purges a long tail).  The record of the first chunk describes the span; the other chunks are CHUNK_FREE.
 */
#ifndef CORE_SPAN_H
#define CORE_SPAN_H

#include "backend/chunk.h"
#include "internal.h"
#include "pages.h"

/* alignment: in bytes, a power of two, at most SPAN_ALIGNMENT_MAX. */
#define SPAN_ALIGNMENT_MAX ((size_t)1 << 30)
static inline bool span_may_align(size_t alignment)
{
	return bits_is_power(alignment) && alignment <= SPAN_ALIGNMENT_MAX;
}

INTERNAL void *span_alloc(struct heap *h, size_t bytes, size_t alignment, bool zero);

/* Makes a span of a chunk of slabs.  The caller holds all units of the chunk and counts them as used. */
INTERNAL void span_of_chunk(struct heap *h, struct chunk *c, size_t bytes);

/* Releases a span.  c is the record that the map has for p.  Returns false if c is no span or p is not its start. */
INTERNAL bool span_release(struct chunk *c, void *p);

/* Resizes in place.  Returns false if that is not possible. */
INTERNAL bool span_fit(struct chunk *c, size_t bytes);

/*
 * Resizes in place or by moving pages, in a heap of one process; the result is aligned.  Returns NULL if that is not
 * possible even after empty slabs of the default heap were gathered.
 */
INTERNAL void *span_resize(struct chunk *c, void *p, size_t bytes, size_t alignment);

/* Returns whether p is the start of a live span. */
static inline bool span_is(const struct chunk *c, const void *p)
{
	return chunk_is(c, CHUNK_SPAN) && p == c->base;
}

/* Returns the usable bytes of a span for this request. */
static inline size_t span_size(size_t bytes)
{
	return (bytes + PAGE_MOST - 1) & ~(PAGE_MOST - 1);
}

#endif
