/* SPDX-License-Identifier: MIT */
/* The allocating calls other than ash_alloc. */
#include "front/alloc.h"

#include "ashlar.h"
#include "front/quick.h"
#include "front/slot.h"
#include "front/span.h"
#include "memory.h"
#include "vec16.h"

static OUTLINE void *zalloc_rest(size_t count, size_t size)
{
	bool clean;
	size_t bytes;
	void *p = NULL;

	if (__builtin_mul_overflow(count, size, &bytes) || bytes > PTRDIFF_MAX)
		; /* too large: no memory */
	else if (bytes > SLOT_MAX)
		p = span_alloc(&heap_default, bytes, 1, true);
	else if ((p = slot_alloc(class_of(bytes), &clean)) != NULL && !clean)
		memset(p, 0, bytes);
	if (p == NULL)
		ash_on_no_memory();
	return p;
}

/* Above SLOT_SMALL, where the string instruction is faster than vec16_clear. */
static QUICK_SLOW void *zalloc_long(size_t bytes)
{
	bool clean;
	void *p = quick_long(bytes, &clean, false);

	if (unlikely(p == NULL))
		return zalloc_rest(1, bytes);
	return clean ? p : memset(p, 0, bytes);
}

QUICK_FAST void *ash_zalloc(size_t count, size_t size)
{
	size_t bytes;
	bool clean;
	void *p;

	if (!QUICK || __builtin_mul_overflow(count, size, &bytes) || unlikely(bytes > SLOT_MAX))
		return zalloc_rest(count, size);
	if (unlikely(bytes > SLOT_SMALL))
		return zalloc_long(bytes);
	p = quick_slot(class_small[(bytes + 7) / 8], &clean, false);
	if (unlikely(p == NULL))
		return zalloc_rest(1, bytes);
	if (!clean)
		vec16_clear(p, bytes);
	return p;
}

static OUTLINE void *aligned_rest(size_t alignment, size_t size)
{
	void *p = NULL;
	unsigned class;
	bool clean;

	if (span_may_align(alignment) && size <= PTRDIFF_MAX) {
		class = class_aligned(size, alignment);
		if (class < CLASSES)
			p = slot_alloc(class, &clean);
		else
			p = span_alloc(&heap_default, size > 0 ? size : 1, alignment, false);
	}
	if (p == NULL)
		ash_on_no_memory();
	return p;
}

/*
 * For alignments up to a unit, a block whose size is a multiple of the alignment is
 * aligned, because every class size >= that is itself a multiple of the alignment.
 */
QUICK_FAST void *ash_aligned_alloc(size_t alignment, size_t size)
{
	size_t most = alignment - 1;

	if (QUICK && likely(most < UNIT_SIZE) && likely(bits_is_power(alignment)) &&
	    likely(size <= SLOT_MAX - UNIT_SIZE))
		return ash_alloc(size > 0 ? (size + most) & ~most : alignment);
	return aligned_rest(alignment, size);
}

size_t ash_good_size(size_t size)
{
	if (size > PTRDIFF_MAX)
		return 0;
	return size <= SLOT_MAX ? class_size(class_of(size)) : span_size(size);
}
