/* SPDX-License-Identifier: MIT */
/* ash_release by the names of malloc: only the line that reports a misuse differs (base/misuse.h), and told sizes. */
#include "front/free.h"

#include "ashlar.h"
#include "backend/map.h"
#include "base/misuse.h"
#include "front/block.h"
#include "front/diagnose.h"
#include "front/realloc.h"
#include "front/release.h"
#include "front/remote.h"
#include "front/slot.h"
#include "front/span.h"

static SLOW void free_rest(void *p, struct slab *s)
{
	diagnose_called("free", p);
	release_rest(p, s);
}

FAST void ash_free(void *p)
{
	release_fast(p, free_rest);
}

static SLOW void delete_rest(void *p, struct slab *s)
{
	diagnose_called("operator delete", p);
	release_rest(p, s);
}

FAST void ash_delete(void *p)
{
	release_fast(p, delete_rest);
}

/* Returns the bytes of a block that ash_aligned_alloc allocates, or ash_alloc if the alignment is 1. */
static size_t bytes_told(size_t alignment, size_t size)
{
	size_t most = alignment - 1;
	unsigned class;

	if (most < UNIT_SIZE && size <= SLOT_MAX - UNIT_SIZE)
		return ash_good_size(size > 0 ? (size + most) & ~most : alignment);
	class = class_aligned(size, alignment);
	return class < CLASSES ? class_size(class) : span_size(size > 0 ? size : 1);
}

/*
 * Releases any block if the told size is right.  With `resized`, a size for which realloc may have kept the block is
 * also right (realloc.h).  Once any block got a slot of a larger class (slot_larger), any smaller size is right.
 *
 * A sized release comes here if there is no hint to a slab, or if the single comparison fails.  A right size costs
 * only this comparison, with the smallest size of the class of a slab of the caller.  A size that was rounded up to
 * an alignment may be of any smaller class, so such a size is compared with the slot.  The size of a block in another
 * thread's slab is not compared.
 */
static void told_exactly(const char *name, void *p, size_t alignment, size_t size, bool resized)
{
	size_t have = chunk_block(map_find(p), p);

	diagnose_called(name, p);
	/* A block in a region of its own has only its pages, not the size of its class. */
	if (have != 0 && bits_is_power(alignment) && (size > have || bytes_told(alignment, size) != have) &&
	    !(size > SLOT_LARGE && span_size(size) == have) &&
	    !resize_kept(have, size, resized))
		misuse_size(alignment > 1 ? CALL_RELEASE_ALIGNED : CALL_RELEASE_SIZED, p, have);
	if (alignment != 1)
		release_aligned_rest(p, alignment, size);
	else
		release_rest(p, map_guess_slab(p));
}

/* Handles a size that does not belong to the slab.  The size may be right if realloc kept the block. */
typedef void wrong_function(void *p, size_t size);

static SLOW void delete_wrong(void *p, size_t size)
{
	told_exactly("operator delete", p, 1, size, false);
}

static SLOW void free_wrong(void *p, size_t size)
{
	told_exactly("free_sized", p, 1, size, true);
}

static SLOW void free_aligned_wrong(void *p, size_t size)
{
	told_exactly("free_aligned_sized", p, 1, size, true);
}

static SLOW void delete_told(void *p, size_t size, size_t alignment)
{
	told_exactly("operator delete", p, alignment, size, false);
}

static SLOW void free_told(void *p, size_t alignment, size_t size)
{
	told_exactly("free_aligned_sized", p, alignment, size, true);
}

static SLOW void free_sized_rest(void *p, struct slab *s)
{
	diagnose_called("free_sized", p);
	release_rest(p, s);
}

static SLOW void free_aligned_rest(void *p, struct slab *s)
{
	diagnose_called("free_aligned_sized", p);
	release_rest(p, s);
}

/* Releases with a told size.  Returns false if there is no hint to a slab. */
static ALWAYS_INLINE bool release_told(void *p, size_t size, bool aligned, rest_function *rest, wrong_function *wrong)
{
	uint64_t index;
	struct slab *s;

	if (unlikely(!own_slot(p, &s, &index))) {
		if (s == NULL)
			return false;
		rest(p, s);
	} else if (unlikely(aligned ? cpu_is_above(size, &s->slot_size) : cpu_is_below(size, &s->least))) {
		wrong(p, size);
	} else {
		release_bit(p, s, index, rest);
	}
	return true;
}

FAST void ash_delete_sized(void *p, size_t size)
{
	if (unlikely(!release_told(p, size, false, delete_rest, delete_wrong)))
		delete_wrong(p, size);
}

FAST void ash_free_sized(void *p, size_t size)
{
	if (unlikely(!release_told(p, size, false, free_sized_rest, free_wrong)))
		free_wrong(p, size);
}

FAST void ash_delete_aligned_sized(void *p, size_t size, size_t alignment)
{
	if (unlikely(!release_told(p, size, true, delete_rest, delete_wrong)))
		delete_told(p, size, alignment);
}

FAST void ash_free_aligned_sized(void *p, size_t alignment, size_t size)
{
	if (unlikely(!release_told(p, size, true, free_aligned_rest, free_aligned_wrong)))
		free_told(p, alignment, size);
}
