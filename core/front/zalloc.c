/* SPDX-License-Identifier: MIT */
/* The allocating calls except ash_alloc, and the sizes of blocks. */
#include "ashlar.h"
#include "front/alloc.h"
#include "front/block.h"
#include "front/slot.h"
#include "memory.h"
#include "vec16.h"

/*
 * Allocates a block of a size that is a multiple of the alignment.  The slow path gets the alignment, because not
 * every slot of classes of other sizes is aligned.
 */
static SLOW void *multiple_rest(size_t bytes)
{
	return alloc_class(class_of(bytes), bytes, bytes & -bytes, false);
}

/* With `aligned`, the alignment is that of multiple_rest. */
static ALWAYS_INLINE void *zalloc(size_t bytes, bool aligned)
{
	bool clean;
	void *p = slot_try(bytes, &clean);

	if (unlikely(p == NULL))
		return aligned ? alloc_class(class_of(bytes), bytes, bytes & -bytes, true) : alloc_rest(bytes, true);
	if (clean)
		return p;
	if (unlikely(bytes > SLOT_SMALL)) /* the string instruction is faster */
		return memset(p, 0, bytes);
	vec16_clear(p, bytes);
	return p;
}

void *ash_zalloc(size_t count, size_t size)
{
	size_t bytes;

	if (unlikely(__builtin_mul_overflow(count, size, &bytes)))
		bytes = SIZE_MAX; /* too large: no memory */
	return zalloc(bytes, false);
}

/*
 * For alignments up to a unit, a block with a size that is a multiple of the alignment is aligned, because all larger
 * class sizes are multiples of the alignment, too.
 */
static ALWAYS_INLINE void *alloc_aligned(size_t alignment, size_t size, bool zero)
{
	size_t most = alignment - 1;

	if (unlikely(most >= UNIT_SIZE) || unlikely(!bits_is_power(alignment)) || unlikely(size > SLOT_MAX - UNIT_SIZE))
		return alloc_aligned_rest(alignment, size, zero);
	size = size > 0 ? (size + most) & ~most : alignment;
	return zero ? zalloc(size, true) : ash_alloc_or(size, multiple_rest);
}

void *ash_aligned_alloc(size_t alignment, size_t size)
{
	return alloc_aligned(alignment, size, false);
}

SLOW void *ash_aligned_zalloc(size_t alignment, size_t size)
{
	return alloc_aligned(alignment, size, true);
}

size_t ash_good_size(size_t size)
{
	return size > PTRDIFF_MAX ? 0 : block_good(size);
}

size_t ash_usable_size(const void *p)
{
	struct slab *s = NULL;
	struct slot_ref at;

	/* Like ash_release, this does not read the remote word, because that is on another page. */
	if (likely(own_slot(p, &s, &at.index)) &&
	    likely(((load_relaxed(&s->free[at.index / GROUP_SLOTS]) >> (at.index % GROUP_SLOTS)) &
		    1) == 0))
		return s->slot_size;
	if (likely(slab_is_of(s, p)) && slot_find_in(s, p, &at) && slot_is_taken(&at))
		return s->slot_size;
	return block_bytes(CALL_USABLE_SIZE, p);
}
