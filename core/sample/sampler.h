/* SPDX-License-Identifier: MIT */
/*
 * Sampling (ashlar_sample.h).  Only the sampled products are compiled with this file; in others the hooks of the same
 * names are empty (front/variant.h).
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
#ifndef CORE_SAMPLER_H
#define CORE_SAMPLER_H

#include "base/bits.h"
#include "internal.h"
#include "slab/unowned.h"
#include "thread/owner.h"

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

/*
 * Counts a slot of a class up to CLASS_ONE that is about to be allocated.  If the slot is a sample, allocates it from
 * an unowned slab.  Otherwise returns NULL.
 */
static inline void *sample_slot(unsigned class)
{
	void *p = NULL;

	if (class <= CLASS_ONE && sample_is_due(class_size(class))) {
		p = unowned_slot(&heap_default, class);
		if (likely(p != NULL)) /* if NULL there is no sample, because a release of the slot might be fast */
			sample_take(p, class_size(class));
	}
	return p;
}

/* Counts a slot that is about to be taken from the bin, if there is a slot.  Returns whether the slot is a sample. */
static ALWAYS_INLINE bool sample_in(const struct owner *o, const struct bin *b)
{
	const struct slab *s = bin_slab(o, b);

	return s->ready != 0 && sample_counts(s->slot_size);
}

/* Counts a block above SLOT_LARGE that was allocated, or a span that was resized.  p may be NULL. */
static inline void sample_large(void *p, size_t bytes)
{
	if (p != NULL && sample_is_due(bytes))
		sample_take(p, bytes);
}

/* sample_large for a slot of this class; slots up to SLOT_LARGE are sampled elsewhere. */
static inline void sample_large_slot(void *p, unsigned class)
{
	if (class > CLASS_ONE)
		sample_large(p, class_size(class));
}

/* sample_gone for a slot that is about to be released, if the slot may be a sample.  `owner` is the slab's word. */
static inline void sample_slot_gone(void *p, const struct slab *s, uint64_t owner)
{
	if ((owner & OWNER_UNOWNED) != 0 || s->slot_size > SLOT_LARGE)
		sample_gone(p);
}

#endif
