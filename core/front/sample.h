/* SPDX-License-Identifier: MIT */
/*
 * Sampling (ashlar_sample.h).  Compiled only with ASHLAR_SAMPLE; otherwise these functions are empty, and the paths
 * that call them are unchanged.
 *
 *   sampler.left    bytes to the next sample.  Each allocation subtracts the bytes of its block, on the fast
 *                   paths once it is clear that there is a slot
 *   left < 0        the allocation is a sample: it leaves the fast path, and slot_alloc or
 *                   sample_large takes it.  left is below 0 until then, so counting one
 *                   allocation twice on the way changes nothing
 *
 * A sample of up to SLOT_LARGE is a slot of an unowned slab, so no release of it is fast, and remote.c calls the hook
 * for each block that is not in an owner's slab.  Releases of larger blocks are never fast.
 *
 * The bytes that a handler allocates between the load and the store of `left` may be lost: then a little less is
 * sampled.
 */
#ifndef CORE_SAMPLE_H
#define CORE_SAMPLE_H

#include "base/bits.h"
#include "internal.h"
#include "thread/owner.h"

#if SAMPLED
struct sampler {
	int64_t left;
	uint64_t random; /* state of the generator; 0 before the thread's first sample */
};
INTERNAL_EXTERN THREAD_LOCAL struct sampler sampler;

/* Counts an allocation on a fast path, of a thread that has begun.  Returns whether the allocation is a sample. */
static ALWAYS_INLINE bool sample_counts(size_t bytes)
{
	sampler.left -= (int64_t)bytes;
	return sampler.left < 0;
}

/* Counts an allocation on a slow path, for any thread.  Returns whether the allocation is a sample. */
INTERNAL SLOW bool sample_is_due(size_t bytes);

/* Calls ash_on_sample, and draws the distance to the next sample. */
INTERNAL SLOW void sample_take(void *p, size_t bytes);

/* Calls ash_on_sample_release for a block that is about to be released. */
INTERNAL SLOW void sample_gone(void *p);

#else
#define sample_counts(n)   false
#define sample_is_due(n)   false
#define sample_take(p, n)  ((void)0)
#define sample_gone(p)	   ((void)0)
#endif

/* Counts a slot that is about to be taken from the bin, if there is a slot.  Returns whether the slot is a sample. */
static ALWAYS_INLINE bool sample_in(const struct owner *o, const struct bin *b)
{
	const struct slab *s = bin_slab(o, b);

	return SAMPLED && s->ready != 0 && sample_counts(s->slot_size);
}

/* Counts a block above SLOT_LARGE that was allocated, or a span that was resized. */
static inline void sample_large(void *p, size_t bytes)
{
	(void)p, (void)bytes;
	if (sample_is_due(bytes))
		sample_take(p, bytes);
}

#endif
