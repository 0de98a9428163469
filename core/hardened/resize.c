/* SPDX-License-Identifier: MIT */
/*
 * The resizing calls of the hardened product, in place of front/resize.c and realloc.c.
 *
 *   resize(p, size)
 *     guard_have, guard_size  a guarded block, whose word and mark are right
 *     resize_here             in place, or by moving the pages of a span: word and mark are removed, what is not used
 *                             any more is cleared, word and mark are set again
 *     ash_alloc, memcpy, ash_release   otherwise
 *   leaves this path to
 *     resize_unguarded        a pointer that is no guarded block: of another heap, NULL or misuse
 */
#include "ashlar.h"
#include "backend/map.h"
#include "backend/region.h"
#include "base/misuse.h"
#include "front/alloc.h"
#include "front/block.h"
#include "front/diagnose.h"
#include "front/realloc.h"
#include "front/span.h"
#include "hardened/guard.h"
#include "memory.h"
#include "thread/bin.h"

/* Resizes a block in place or, for a span in a region of its own, by moving pages.  Returns NULL if it cannot. */
static ALWAYS_INLINE void *resize_here(const char *call, struct chunk *span, void *p, size_t had, size_t alignment,
				       size_t size, size_t have)
{
	size_t now = have, bytes = size + GUARD_BYTES;
	void *to = p;

	/* A heap in the block ends here, as by heap_hooks.resize. */
	if (unlikely(heap_hooks_now() != NULL) && (alignment != RESIZE_IN_PLACE || size < had))
		heap_hooks_now()->gone(p, have);
	guard_lift(call, NULL, p, had, have);
	if (span != NULL) {
		now = span_size(bytes);
		if (alignment != RESIZE_IN_PLACE)
			to = span_resize(span, p, bytes, alignment);
		else if (!span_fit(span, bytes))
			to = NULL;
		heap_count(); /* memory may have been freed */
	}
	if (to == NULL) {
		guard_set(p, had, have);
		return NULL;
	}
	if (size < had) {
		/* The block may grow again into memory behind its pages. */
		size_t room = span != NULL && to == p ? region_alone(span->region) : now;

		memset((char *)to + size, 0, (had < room ? had : room) - size);
	}
	guard_set(to, size, now);
	return to;
}

/*
 * Resizes a guarded block.  For `alignment` see front/block.h.  Returns NULL if there is no memory or no place to
 * grow.
 */
static SLOW void *resize_guarded(const char *call, const char *name, void *p, size_t alignment, size_t size,
				 size_t have)
{
	size_t had = guard_size(call, name, p, have), bytes = size + GUARD_BYTES;
	bool in_place = alignment == RESIZE_IN_PLACE;
	bool stays = have != SLOT_MIN && resize_may_stay(p, alignment);
	struct chunk *c = map_find(p), *span = span_is(c, p) && region_alone(c->region) != 0 ? c : NULL;
	void *to = NULL;

	/* As in block_fits.  A size that is too large finds no memory below. */
	if (size <= PTRDIFF_MAX &&
	    (span != NULL ? in_place || bytes > SLOT_APART
			  : stays && bytes <= have && (in_place || (size > 0 && bytes >= have / 2))))
		to = resize_here(call, span, p, had, alignment, size, have);
	if (to != NULL || in_place)
		return to;
	to = alignment == 1 ? ash_alloc(size) : ash_aligned_alloc(alignment, size);
	if (to == NULL) /* a smaller block needs no memory */
		return stays && size <= had ? resize_here(call, span, p, had, RESIZE_IN_PLACE, size, have) : NULL;
	memcpy(to, p, had < size ? had : size);
	ash_release(p);
	return to;
}

/* Resizes a block of another heap, or allocates one if p is NULL; reports any other pointer. */
static SLOW void *resize_unguarded(const char *call, void *p, size_t alignment, size_t size)
{
	size_t have = block_bytes(call, p);

	if (have == 0 || size > PTRDIFF_MAX) /* a size that is too large finds no memory */
		return alignment == RESIZE_IN_PLACE ? NULL : ash_aligned_alloc(alignment, size);
	return heap_hooks_now() != NULL && heap_hooks_now()->resize(map_find(p), &p, size, alignment) ? p : NULL;
}

void *ash_resize(void *p, size_t size)
{
	size_t have = guard_have(p);

	return have != 0 ? resize_guarded(CALL_RESIZE, NULL, p, 1, size, have)
			 : resize_unguarded(CALL_RESIZE, p, 1, size);
}

SLOW void *ash_aligned_resize(void *p, size_t alignment, size_t size)
{
	size_t have = guard_have(p);

	if (!span_may_align(alignment)) { /* also 0, which is RESIZE_IN_PLACE */
		(void)block_bytes(CALL_ALIGNED_RESIZE, p); /* reports a p that is no block */
		return alloc_aligned_rest(alignment, size, false);
	}
	return have != 0 ? resize_guarded(CALL_ALIGNED_RESIZE, NULL, p, alignment, size, have)
			 : resize_unguarded(CALL_ALIGNED_RESIZE, p, alignment, size);
}

SLOW size_t ash_expand(void *p, size_t size)
{
	size_t have = guard_have(p);

	if (have != 0)
		return resize_guarded(CALL_EXPAND, NULL, p, RESIZE_IN_PLACE, size, have) != NULL ? size : 0;
	return resize_unguarded(CALL_EXPAND, p, RESIZE_IN_PLACE, size) != NULL ? block_bytes(CALL_EXPAND, p) : 0;
}

void *ash_realloc(void *p, size_t size)
{
	size_t have = guard_have(p);

	if (have != 0)
		return resize_guarded(CALL_RESIZE, "realloc", p, 1, size, have);
	diagnose_called("realloc", p);
	return resize_unguarded(CALL_RESIZE, p, 1, size);
}
