/* SPDX-License-Identifier: MIT */
#include "front/resize.h"

#include "ashlar.h"
#include "base/misuse.h"
#include "front/block.h"
#include "front/diagnose.h"
#include "front/grow.h"
#include "front/remote.h"
#include "front/sample.h"
#include "front/slot.h"
#include "front/span.h"
#include "memory.h"
#include "thread/bin.h"
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
	void *moved;

	/* Elsewhere a program asks for it, by ash_expand. */
	if (IS_MALLOC && have > SLOT_LARGE && size > have && grow_large(p, size))
		return p;
	moved = ash_alloc(size);
	if (moved == NULL) {
		if (size > have)
			return NULL;
		resize_keeps(have, size); /* a smaller block needs no memory */
		return p;
	}
	memcpy(moved, p, have < size ? have : size);
	ash_release(p);
	return moved;
}

static SLOW void *resize_other(void *p, size_t size)
{
	size_t have = block_bytes(CALL_RESIZE, p);
	struct chunk *c = map_find(p);

	if (p == NULL || size > PTRDIFF_MAX)
		return ash_alloc(size); /* too large: NULL */
	if (unlikely(heap_hooks_now() != NULL) && heap_hooks_now()->resize(c, &p, size, 1))
		return p;
	if (!span_is(c, p)) {
		if (block_fits(have, size)) {
			resize_keeps(have, size);
			return p;
		}
	} else if (size > SLOT_MAX) {
		void *resized;

		sample_gone(p); /* before its memory may be another block's */
		resized = span_resize(c, p, size, 1);
		sample_large(resized != NULL ? resized : p, resized != NULL ? span_size(size) : have);
		watch_tick(); /* memory may have been freed */
		if (resized != NULL)
			return resized;
	}
	return block_move(p, have, size);
}

/* True: a span of the default heap has just the pages for this size.  So nothing changes, by far most often. */
static ALWAYS_INLINE bool resize_is_none(const void *p, size_t size)
{
	const struct chunk *c = map_guess(p);

	return c != NULL && span_is(c, p) && c->span_bytes == span_size(size) && c->region->heap == &heap_default;
}

static SLOW void *resize_rest(void *p, size_t size)
{
	return !SMALL && resize_is_none(p, size) ? p : resize_other(p, size);
}

/* The end of the fast path if the release is an event. */
static SLOW void *resize_event(void *moved, struct slab *s, uint64_t group, uint64_t word)
{
	release_event(seat.self, s, group, word);
	return moved;
}

/*
 * The fast path: a block of the caller's own slab stays in place, or moves without being
 * looked up again.  The tests are those of ash_release.
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
		return rest(p, size); /* which reports it */
	have = s->slot_size;
	if (block_fits(have, size)) {
		if (IS_MALLOC && have - size >= have / 16) /* else the class is the same */
			resize_keeps(have, size);
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
	word = load_relaxed(&s->free[group]); /* before the seat was closed, a handler may have changed it */
	(void)cpu_set_bit(&word, index);
	if (unlikely(!slab_give(s, group, word)))
		return resize_event(moved, s, group, word);
	seat_open();
	return moved;
}

void *ash_resize(void *p, size_t size)
{
	return resize_fast(p, size, resize_rest);
}

#if IS_MALLOC
static uint64_t kept; /* how blocks were kept for a smaller size, since the process began */
enum { KEPT_FITTING = 1, KEPT_ANY = 2 };

static SLOW void kept_set(uint64_t how)
{
	if ((load_relaxed(&kept) & how) == 0)
		(void)fetch_or_release(&kept, how); /* publishes nothing: who gets the block has synchronised */
}

void resize_keeps(size_t have, size_t size)
{
	kept_set(block_fits(have, size) ? KEPT_FITTING : KEPT_ANY);
}

bool resize_kept(size_t have, size_t size)
{
	uint64_t how = load_relaxed(&kept);

	return size <= have && ((how & KEPT_ANY) != 0 || (how != 0 && block_fits(have, size)));
}

static SLOW void *realloc_rest(void *p, size_t size)
{
	if (resize_is_none(p, size))
		return p;
	diagnose_called("realloc", p);
	return resize_other(p, size);
}

void *ash_realloc(void *p, size_t size)
{
	return resize_fast(p, size, realloc_rest);
}
#endif
