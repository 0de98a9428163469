/* SPDX-License-Identifier: MIT */
#include "front/resize.h"

#include "ashlar.h"
#include "base/misuse.h"
#include "front/block.h"
#include "front/diagnose.h"
#include "front/slot.h"
#include "front/span.h"
#include "memory.h"
#include "thread/watch.h"
#include "vec16.h"

/*
 * A block stays in place if the new size fits and uses at least half of it: growing
 * buffers are often trimmed and grown again.
 */
bool block_fits(size_t have, size_t size)
{
	return size <= have && (size >= have / 2 || have == SLOT_MIN);
}

/* Moves a block of the default heap that has `have` bytes. */
static SLOW void *block_move(void *p, size_t have, size_t size)
{
	void *moved = ash_alloc(size);

	if (moved == NULL)
		return size <= have ? p : NULL; /* a smaller block needs no memory */
	if (have > size)
		have = size;
	if (!SMALL && have <= SLOT_SMALL)
		vec16_copy(moved, p, have);
	else /* the string instruction is faster */
		memcpy(moved, p, have);
	ash_release(p);
	return moved;
}

static SLOW void *resize_rest(void *p, size_t size)
{
	size_t have = block_bytes(CALL_RESIZE, p);
	struct chunk *c = map_find(p);

	if (p == NULL || size > PTRDIFF_MAX)
		return ash_alloc(size); /* too large: NULL */
	if (unlikely(heap_hooks_now() != NULL) && heap_hooks_now()->resize(c, &p, size))
		return p;
	if (!span_is(c, p)) {
		if (block_fits(have, size))
			return p;
	} else if (size > SLOT_MAX) {
		p = span_resize(c, p, size);
		if (p == NULL)
			ash_on_no_memory();
		watch_tick(); /* memory may have been freed */
		return p;
	}
	return block_move(p, have, size);
}

/*
 * The fast path: a block of the caller's own slab stays in place, or moves without being
 * looked up again.  The tests are those of ash_release.
 */
static ALWAYS_INLINE void *resize_fast(void *p, size_t size, void *rest(void *p, size_t size))
{
	uint64_t index;
	struct slab *s;
	size_t have;

	if (unlikely(!own_slot(p, &s, &index)) ||
	    unlikely(((load_relaxed(&s->free[index / GROUP_SLOTS]) >> (index % GROUP_SLOTS)) & 1) != 0))
		return rest(p, size); /* which reports a free slot */
	have = s->slot_size;
	return block_fits(have, size) ? p : block_move(p, have, size);
}

void *ash_resize(void *p, size_t size)
{
	return resize_fast(p, size, resize_rest);
}

#ifdef ASHLAR_MALLOC
static SLOW void *realloc_rest(void *p, size_t size)
{
	diagnose_called("realloc", p);
	return resize_rest(p, size);
}

void *ash_realloc(void *p, size_t size)
{
	return resize_fast(p, size, realloc_rest);
}
#endif
