/* SPDX-License-Identifier: MIT */
/* The fast path of a resize, for the calls by all names (resize.c, realloc.c). */
#ifndef CORE_RESIZE_H
#define CORE_RESIZE_H

#include "backend/heap.h"
#include "backend/map.h"
#include "base/bits.h"
#include "front/block.h"
#include "front/remote.h"
#include "front/slot.h"
#include "front/span.h"
#include "front/variant.h"
#include "internal.h"
#include "thread/bin.h"
#include "vec16.h"

/* Moves a block of the default heap with `have` bytes.  With the names of malloc, may grow it in place. */
INTERNAL SLOW void *block_move(void *p, size_t have, size_t size);

/* Resizes any block, if the fast path cannot. */
INTERNAL SLOW void *resize_other(void *p, size_t size);

/*
 * Returns whether a span of the default heap already has the pages for this size, so that nothing changes.  This is
 * by far the most frequent case.
 */
static ALWAYS_INLINE bool resize_is_none(const void *p, size_t size)
{
	const struct chunk *c = map_guess(p);

	return c != NULL && span_is(c, p) && c->span_bytes == span_size(size) && chunk_heap(c) == &heap_default;
}

/* Ends the fast path if the release is an event. */
INTERNAL SLOW void *resize_event(void *moved, struct slab *s, uint64_t group, uint64_t word);

/*
 * The fast path: a block of the caller's own slab stays in place, or moves without a second lookup.  The tests are
 * those of ash_release.
 */
static ALWAYS_INLINE void *resize_fast(void *p, size_t size, void *rest(void *p, size_t size))
{
	uint64_t index, group, word;
	const struct bin *b;
	struct slab *s;
	size_t have;
	void *moved;
	bool clean;

	if (unlikely(!own_slot(p, &s, &index)))
		return rest(p, size);
	group = index / GROUP_SLOTS;
	word = load_relaxed(&s->free[group]);
	if (unlikely(cpu_set_bit(&word, index)))
		return rest(p, size); /* reports the misuse */
	have = s->slot_size;
	if (block_fits(have, size)) {
		resize_keeps_close(have, size);
		return p;
	}
	if (unlikely(size > SLOT_SMALL)) /* the string instruction is faster */
		return block_move(p, have, size);
	seat_close();
	b = bin_small(seat.self, seat_small(size));
	moved = sample_in(seat.self, b) ? NULL : bin_slot(seat.self, b, &clean);
	if (unlikely(moved == NULL)) {
		seat_open();
		return block_move(p, have, size);
	}
	vec16_copy(moved, p, size < have ? size : have);
	word = load_relaxed(&s->free[group]); /* a handler may have changed the word before the seat was closed */
	(void)cpu_set_bit(&word, index);
	if (unlikely(!slab_give(s, group, word)))
		return resize_event(moved, s, group, word);
	seat_open();
	return moved;
}

#endif
