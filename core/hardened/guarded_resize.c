/* SPDX-License-Identifier: MIT */
/* Resizing guarded blocks. */
#include "front/resize.h"
#include "hardened/bare.h"
#include "hardened/guarded.h"
#include "hardened/hardened.h"
#include "memory.h"

/* Resizes a span, which may move if `to` does; bytes: with the guard.  NULL: no memory, or not possible in place. */
static void *span_reset(void *p, size_t had, size_t alignment, size_t size, size_t have)
{
	size_t bytes = size + GUARD_BYTES;
	void *to;

	guard_lift(p, had, have);
	if (alignment == RESIZE_IN_PLACE)
		to = bare_expand(p, bytes) != 0 ? p : NULL;
	else
		to = bare_aligned_resize(p, alignment, bytes);
	if (to == NULL) {
		guard_set(p, had, have);
		return NULL;
	}
	have = chunk_block(map_find(to), to);
	if (size < had)
		memset((char *)to + size, 0, (had < have ? had : have) - size);
	guard_set(to, size, have);
	return to;
}

/* The same where the block is, which has room for it. */
static void *slot_reset(void *p, size_t had, size_t size, size_t have)
{
	guard_lift(p, had, have);
	if (size < had)
		memset((char *)p + size, 0, had - size);
	guard_set(p, size, have);
	return p;
}

/* Resizes a block of the default heap, of `had` bytes.  alignment: see resize.h. */
static void *block_reset(const char *name, void *p, size_t had, size_t alignment, size_t size, size_t have)
{
	size_t bytes = size + GUARD_BYTES;
	bool may_stay, is_span = span_is(map_find(p), p);
	void *to;

	if ((bytes > SLOT_MAX || alignment == RESIZE_IN_PLACE) && is_span)
		return span_reset(p, had, alignment, size, have);
	may_stay = have_is_guarded(have) && bytes <= have && resize_may_stay(p, alignment);
	if (may_stay && (alignment == RESIZE_IN_PLACE || (size > 0 && block_fits(have, bytes))))
		return slot_reset(p, had, size, have);
	if (alignment == RESIZE_IN_PLACE)
		return NULL;
	to = block_new(alignment, size, false);
	if (to == NULL && may_stay && size <= had) /* as in move_aligned; a span's slack must fit its word */
		return is_span ? span_reset(p, had, RESIZE_IN_PLACE, size, have) : slot_reset(p, had, size, have);
	if (to == NULL)
		return NULL;
	memcpy(to, p, had < size ? had : size);
	(void)block_release(CALL_RESIZE, name, p, SIZE_UNTOLD);
	return to;
}

static ALWAYS_INLINE size_t size_of(const char *call, const char *name, const void *p, size_t have)
{
	return have_is_guarded(have) ? guard_size(call, name, p, have) : 0;
}

void *ash_resize(void *p, size_t size)
{
	size_t have = block_have(p);

	if (p == NULL || size > PTRDIFF_MAX)
		return have == 0 && p != NULL ? bare_resize(p, size) : block_new(1, size, false);
	return have == 0 ? bare_resize(p, size)
			 : block_reset(NULL, p, size_of(CALL_RESIZE, NULL, p, have), 1, size, have);
}

void *ash_aligned_resize(void *p, size_t alignment, size_t size)
{
	size_t have = block_have(p);

	if (p == NULL || !span_may_align(alignment) || size > PTRDIFF_MAX)
		return have == 0 && p != NULL ? bare_aligned_resize(p, alignment, size) : block_new(alignment, size, false);
	return have == 0 ? bare_aligned_resize(p, alignment, size)
			 : block_reset(NULL, p, size_of(CALL_ALIGNED_RESIZE, NULL, p, have), alignment, size, have);
}

size_t ash_expand(void *p, size_t size)
{
	size_t have = block_have(p);

	if (have == 0 || size > PTRDIFF_MAX)
		return have == 0 ? bare_expand(p, size) : 0;
	return block_reset(NULL, p, size_of(CALL_EXPAND, NULL, p, have), RESIZE_IN_PLACE, size, have) != NULL ? size : 0;
}

#if IS_MALLOC
void *ash_realloc(void *p, size_t size)
{
	size_t have = block_have(p);

	if (have == 0 || size > PTRDIFF_MAX)
		return have == 0 ? bare_realloc(p, size) : block_new(1, size, false);
	return block_reset("realloc", p, size_of(CALL_RESIZE, "realloc", p, have), 1, size, have);
}
#endif
