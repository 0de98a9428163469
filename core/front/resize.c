/* SPDX-License-Identifier: MIT */
#include "front/resize.h"

#include "ashlar.h"
#include "backend/units.h"
#include "base/misuse.h"
#include "front/block.h"
#include "front/diagnose.h"
#include "front/remote.h"
#include "front/slot.h"
#include "front/span.h"
#include "front/variant.h"
#include "memory.h"
#include "thread/bin.h"
#include "thread/owner.h"
#include "thread/refill.h"

/*
 * Growing a large block in place, into the free units behind it:
 *
 *   units   [block][free........]   -> [block.......][free]    a slab of another class
 *   chunk   [block][free........|   -> [span..............|    if the rest of the chunk is free
 *
 * The slab is unmade and another slab is made in that place.  In between, the units are in flight, and other threads
 * find no block there.
 */
static SLOW bool grow_slab(struct owner *o, struct slab *s, struct units u, unsigned class)
{
	unsigned count = class_units(class, true);

	if (class_is_aligned(class) && ((uintptr_t)s->base & (class_size(class) - 1)) != 0)
		return false;
	if (!units_extend(o->heap, u, count))
		return false;
	u = large_close(o, s);
	u.count = (uint16_t)count;
	large_use(large_open(o, u, class));
	return true;
}

/* A block becomes a span only if the block begins the chunk and the chunk has no other slab. */
static SLOW bool grow_to_span(struct owner *o, struct slab *s, struct units u, size_t size)
{
	if (size > CHUNK_SIZE || !units_extend(o->heap, u, CHUNK_UNITS))
		return false;
	span_of_chunk(o->heap, large_close(o, s).chunk, size);
	return true;
}

/*
 * Grows p, a block of the default heap, to at least `size` bytes.  Returns false and leaves the block unchanged if p
 * is not a large block of the caller, or the memory behind it is not free.
 */
static SLOW bool grow_large(void *p, size_t size)
{
	struct owner *o;
	struct units u;
	uint64_t index;
	struct slab *s;
	bool grown;

	/* A slab with a slot from a bin looks ready: such a slab is on the partial list although the slot is taken. */
	if (large_is_pinned() || !own_slot(p, &s, &index) || s->class <= CLASS_ONE || s->slots != 1 ||
	    slab_is_ready(s))
		return false;
	seat_close();
	o = seat.self;
	owner_begin(o);
	u = (struct units){s->chunk, s->unit, s->units, false};
	grown = size <= SLOT_MAX ? grow_slab(o, s, u, slot_class(class_larger(size))) : grow_to_span(o, s, u, size);
	owner_end(o);
	seat_open();
	return grown;
}

/*
 * Each kind of resizing is written once, below.  Each call has this code inlined for the call's alignment, so that a
 * program links only the code that its calls need.  This function moves a block of the default heap with `have`
 * bytes.
 */
static SLOW_PART void *move_aligned(void *p, size_t have, size_t alignment, size_t size)
{
	void *moved = alignment == 1 ? ash_alloc(size) : ash_aligned_alloc(alignment, size);

	if (moved == NULL) {
		if (size > have || !resize_may_stay(p, alignment))
			return NULL;
		resize_keeps(have, size); /* a smaller block needs no memory */
		return p;
	}
	memcpy(moved, p, have < size ? have : size);
	ash_release(p);
	return moved;
}

SLOW void *block_move(void *p, size_t have, size_t size)
{
	/* Other products grow in place only on request, by ash_expand. */
	if (IS_MALLOC && have > SLOT_LARGE && size > have && grow_large(p, size))
		return p;
	return move_aligned(p, have, 1, size);
}

/* Resizes a live span.  Returns NULL if that is not possible, or not in place. */
static SLOW_PART void *resize_span(struct chunk *c, void *p, size_t have, size_t alignment, size_t size)
{
	void *resized;

	sample_gone(p); /* before another block can get the memory */
	size += size == 0;
	if (alignment == RESIZE_IN_PLACE)
		resized = span_fit(c, size) ? p : NULL;
	else
		resized = span_resize(c, p, size, alignment);
	sample_large(resized != NULL ? resized : p, resized != NULL ? span_size(size) : have);
	heap_count(); /* memory may have been freed */
	return resized;
}

/* Resizes a live block.  For `alignment` see resize.h.  Returns NULL if there is no memory, or no room in place. */
static SLOW_PART void *block_resize(void *p, size_t have, size_t alignment, size_t size)
{
	bool in_place = alignment == RESIZE_IN_PLACE;
	size_t least = size < alignment ? alignment : size;
	struct chunk *c = map_find(p);
	void *resized;

	if (unlikely(heap_hooks_now() != NULL) && heap_hooks_now()->resize(c, &p, size, alignment))
		return p;
	if (!span_is(c, p)) {
		if (in_place ? size <= have : resize_may_stay(p, alignment) && block_fits(have, least)) {
			resize_keeps(have, size);
			return p;
		}
	} else if (in_place || least > SLOT_MAX) {
		resized = resize_span(c, p, have, alignment, size);
		if (resized != NULL)
			return resized;
	}
	if (in_place)
		return NULL;
	return alignment == 1 ? block_move(p, have, size) : move_aligned(p, have, alignment, size);
}

SLOW void *resize_other(void *p, size_t size)
{
	size_t have = block_bytes(CALL_RESIZE, p);

	if (p == NULL || size > PTRDIFF_MAX)
		return ash_alloc(size); /* too large: NULL */
	return block_resize(p, have, 1, size);
}

SLOW void *ash_aligned_resize(void *p, size_t alignment, size_t size)
{
	size_t have = block_bytes(CALL_ALIGNED_RESIZE, p);

	if (p == NULL || !span_may_align(alignment) || size > PTRDIFF_MAX)
		return ash_aligned_alloc(alignment, size); /* too large, or not an alignment: NULL */
	return block_resize(p, have, alignment, size);
}

SLOW size_t ash_expand(void *p, size_t size)
{
	size_t have = block_bytes(CALL_EXPAND, p);

	if (p == NULL || size > PTRDIFF_MAX ||
	    (block_resize(p, have, RESIZE_IN_PLACE, size) == NULL && !grow_large(p, size)))
		return 0;
	return block_bytes(CALL_EXPAND, p);
}

static SLOW void *resize_rest(void *p, size_t size)
{
	return resize_is_none(p, size) ? p : resize_other(p, size);
}

SLOW void *resize_event(void *moved, struct slab *s, uint64_t group, uint64_t word)
{
	release_event(seat.self, s, group, word);
	return moved;
}

void *ash_resize(void *p, size_t size)
{
	return resize_fast(p, size, resize_rest);
}
