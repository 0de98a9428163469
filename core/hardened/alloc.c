/* SPDX-License-Identifier: MIT */
/*
 * The allocating calls of the hardened product, in place of front/alloc.c and zalloc.c.
 *
 *   ash_alloc(size)
 *     bin_slot                a random free slot of the current slab of the class that has room for the check word
 *     bin_next                the next slab of the bin's list
 *     guard_new (guard.c)     the slot must read zero (zero.c); the check word and the mark are set
 *   leaves this path to
 *     alloc_class             if size and word exceed SLOT_LARGE, for size 0, alignments above 16, a closed seat, or if
 *                             no slab has a slot.  Blocks above 128 KiB get mappings of their own while the process
 *                             has few of them
 *
 * All blocks read zero, so ash_zalloc differs only in the huge pages of a span.
 */
#include "ashlar.h"
#include "backend/map.h"
#include "backend/region.h"
#include "front/alloc.h"
#include "front/block.h"
#include "front/slot.h"
#include "front/span.h"
#include "hardened/guard.h"
#include "thread/bin.h"
#include "thread/seat.h"

SLOW void *alloc_class(unsigned class, size_t size, size_t alignment, bool zero)
{
	bool clean = true;
	void *p = NULL;

	if (class > CLASS_APART && class < CLASSES && region_is_exact())
		p = span_alloc(&heap_default, size + GUARD_BYTES, alignment, zero);
	if (p == NULL && class < CLASSES)
		p = slot_alloc(class, &clean);
	/* If addresses are short, the heap has not grown for a large slot: see units_claim. */
	if (p == NULL && size <= PTRDIFF_MAX && (class == CLASSES || (class > CLASS_ONE && region_exact()))) {
		clean = true;
		p = span_alloc(&heap_default, size + GUARD_BYTES, alignment, zero);
	}
	if (p == NULL && class < CLASSES && class > 0) /* the class of size 0 is without access */
		p = slot_larger(class, alignment, &clean);
	if (p == NULL)
		ash_on_no_memory();
	else if (class > 0)
		guard_new(p, size, chunk_block(map_find(p), p), clean);
	return p;
}

SLOW void *alloc_rest(size_t size, bool zero)
{
	size_t bytes = guard_bytes(size);

	return alloc_class(bytes <= SLOT_MAX ? class_of(bytes) : CLASSES, size, 1, zero);
}

SLOW void *alloc_aligned_rest(size_t alignment, size_t size, bool zero)
{
	if (span_may_align(alignment) && size <= PTRDIFF_MAX)
		return alloc_class(class_aligned(guard_bytes(size), alignment), size, alignment, zero);
	ash_on_no_memory();
	return NULL;
}

/* zero: a span gets no huge pages. */
static ALWAYS_INLINE void *alloc_guarded(size_t alignment, size_t size, bool zero)
{
	size_t bytes = size + GUARD_BYTES, have = 0;
	struct bin *b;
	bool clean = false;
	struct owner *o = NULL;
	void *p = NULL;

	if (likely(seat.open != 0) && likely(size - 1 < SLOT_LARGE - GUARD_BYTES) &&
	    likely(alignment <= CLASS_STEP) && likely(bits_is_power(alignment))) {
		seat_close();
		o = seat.self;
		b = bytes <= SLOT_SMALL ? bin_small(o, seat_small(bytes)) : &o->bins[class_larger(bytes)];
		while (unlikely((p = bin_slot(o, b, &clean)) == NULL) && bin_next(o, b))
			;
		have = bin_slab(o, b)->slot_size;
		seat_open();
	}
	if (unlikely(p == NULL))
		return alignment == 1 ? alloc_rest(size, zero) : alloc_aligned_rest(alignment, size, zero);
	guard_new(p, size, have, clean);
	return p;
}

FAST void *ash_alloc(size_t size)
{
	return alloc_guarded(1, size, false);
}

FAST void *ash_alloc_or(size_t size, ash_rest *rest)
{
	return rest(size);
}

void *ash_zalloc(size_t count, size_t size)
{
	size_t bytes;

	if (unlikely(__builtin_mul_overflow(count, size, &bytes)))
		bytes = SIZE_MAX; /* too large: no memory */
	return alloc_guarded(1, bytes, true);
}

/* Too long to be inlined. */
static SLOW void *alloc_aligned(size_t alignment, size_t size, bool zero)
{
	return alloc_guarded(alignment, size, zero);
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
	return size > PTRDIFF_MAX || size == 0 ? 0 : block_good(size + GUARD_BYTES) - GUARD_BYTES;
}

size_t ash_usable_size(const void *p)
{
	size_t have = guard_have(p);

	return have != 0 ? guard_size(CALL_USABLE_SIZE, NULL, p, have) : block_bytes(CALL_USABLE_SIZE, p);
}
