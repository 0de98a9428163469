/* SPDX-License-Identifier: MIT */
/* Calls with an alignment, other than ash_aligned_alloc. */
#include "ashlar.h"
#include "base/misuse.h"
#include "front/alloc.h"
#include "front/block.h"
#include "front/resize.h"
#include "front/sample.h"
#include "front/span.h"
#include "memory.h"
#include "thread/bin.h"

/* A size that is a multiple of the alignment makes the block aligned: see ash_aligned_alloc. */
void *ash_aligned_zalloc(size_t alignment, size_t size)
{
	size_t most = alignment - 1;

	if (likely(most < UNIT_SIZE) && likely(bits_is_power(alignment)) &&
	    likely(size <= SLOT_MAX - UNIT_SIZE))
		return ash_zalloc(1, size > 0 ? (size + most) & ~most : alignment);
	return alloc_aligned_rest(alignment, size, true);
}

/* Resizes a block of the default heap, which has `have` bytes. */
static void *aligned_resize(struct chunk *c, void *p, size_t have, size_t alignment, size_t size)
{
	bool stays = resize_may_stay(p, alignment), span = span_is(c, p);
	void *moved;

	if (span && class_aligned(size, alignment) == CLASSES) {
		sample_gone(p); /* before its memory may be another block's */
		moved = span_resize(c, p, size > 0 ? size : 1, alignment);
		sample_large(moved != NULL ? moved : p, moved != NULL ? span_size(size) : have);
		if (moved == NULL)
			ash_on_no_memory();
		watch_tick(); /* memory may have been freed */
		return moved;
	}
	if (stays && !span && block_fits(have, size < alignment ? alignment : size)) {
		resize_keeps(have, size);
		return p;
	}
	moved = ash_aligned_alloc(alignment, size);
	if (moved == NULL) {
		if (!stays || size > have)
			return NULL;
		resize_keeps(have, size); /* a smaller block needs no memory */
		return p;
	}
	memcpy(moved, p, have < size ? have : size);
	ash_release(p);
	return moved;
}

void *ash_aligned_resize(void *p, size_t alignment, size_t size)
{
	size_t have = block_bytes(CALL_ALIGNED_RESIZE, p);
	struct chunk *c = map_find(p);

	if (p == NULL || !span_may_align(alignment) || size > PTRDIFF_MAX)
		return ash_aligned_alloc(alignment, size); /* too large, or no alignment: NULL */
	if (unlikely(heap_hooks_now() != NULL) && heap_hooks_now()->resize(c, &p, size, alignment))
		return p;
	return aligned_resize(c, p, have, alignment, size);
}

void ash_release_aligned_sized(void *p, size_t alignment, size_t size)
{
	size_t have = block_bytes(CALL_RELEASE_ALIGNED, p);

	if (p == NULL)
		return;
	if (size > have)
		misuse_size(CALL_RELEASE_ALIGNED, p, have);
	if (!bits_is_power(alignment) || !resize_may_stay(p, alignment))
		misuse_alignment(CALL_RELEASE_ALIGNED, p, have);
	ash_release(p);
}
