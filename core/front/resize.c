/* SPDX-License-Identifier: MIT */
#include "front/resize.h"

#include "ashlar.h"
#include "base/misuse.h"
#include "front/block.h"
#include "front/quick.h"
#include "front/slot.h"
#include "front/span.h"
#include "memory.h"
#include "thread/settle.h"
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

static OUTLINE void *resize_rest(void *p, size_t size)
{
	size_t have = block_bytes(CALL_RESIZE, p);
	struct chunk *c;
	void *moved;

	if (p == NULL)
		return ash_alloc(size);
	if (size > PTRDIFF_MAX) {
		ash_on_no_memory();
		return NULL;
	}
	c = map_find(p);
	if (unlikely(heap_hooks != NULL) && heap_hooks->resize(c, &p, size))
		return p;
	if (span_is(c, p)) {
		if (size > SLOT_MAX) {
			moved = span_resize(c, p, size);
			if (moved == NULL)
				ash_on_no_memory();
			watch_tick(); /* memory may have been freed */
			return moved;
		}
	} else if (block_fits(have, size)) {
		return p;
	}
	moved = ash_alloc(size);
	if (moved == NULL)
		return size <= have ? p : NULL; /* a smaller block needs no memory */
	memcpy(moved, p, size < have ? size : have);
	ash_release(p);
	return moved;
}

/* As release_event. */
static SLOW void *resize_event(void *moved, struct slab *s, uint64_t group, uint64_t word)
{
	settle_freed(seat.self, s, group, word);
	seat_open();
	/* Hides the value; otherwise the caller keeps it in a callee-saved register. */
	__asm__("" : "+r"(moved));
	return moved;
}

/*
 * The fast path: a block of the caller's own slab stays or moves to another of its own
 * slabs, with a single lookup.  The tests are those of ash_release.
 */
static ALWAYS_INLINE void *resize_fast(void *p, size_t size, void *rest(void *p, size_t size))
{
	uint64_t index, group, word;
	struct slab *s;
	size_t have;
	void *moved;
	bool clean;

	if (!QUICK || unlikely(!own_slot(p, &s, &index)))
		return rest(p, size);
	group = index / GROUP_SLOTS;
	if (unlikely(((load_relaxed(&s->free[group]) >> (index % GROUP_SLOTS)) & 1) != 0))
		return rest(p, size); /* which reports it */
	have = s->slot_size;
	if (block_fits(have, size))
		return p;
	if (unlikely(size > SLOT_SMALL))
		return rest(p, size); /* for larger sizes the string instruction is faster */
	seat_close();
	moved = bin_slot(seat.self, bin_small(seat.self, class_small[(size + 7) / 8]), &clean);
	if (unlikely(moved == NULL)) {
		seat_open();
		return rest(p, size);
	}
	vec16_copy(moved, p, size < have ? size : have);
	word = load_relaxed(&s->free[group]);
	(void)cpu_set_bit(&word, index);
	if (unlikely(slab_has_event(s, group, word)))
		return resize_event(moved, s, group, word);
	store_release(&s->free[group], word);
	seat_open();
	return moved;
}

QUICK_FAST void *ash_resize(void *p, size_t size)
{
	return resize_fast(p, size, resize_rest);
}

#ifdef ASHLAR_MALLOC
static OUTLINE void *realloc_rest(void *p, size_t size)
{
	misuse_called("realloc", p);
	return resize_rest(p, size);
}

QUICK_FAST void *ash_realloc(void *p, size_t size)
{
	return resize_fast(p, size, realloc_rest);
}
#endif
