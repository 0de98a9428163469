/* SPDX-License-Identifier: MIT */
#include "front/grow.h"

#include "backend/units.h"
#include "front/sample.h"
#include "front/slot.h"
#include "front/span.h"
#include "thread/owner.h"

/* The slab of the block goes; its units are the caller's. */
static struct units slab_of_block_ends(struct owner *o, struct slab *s)
{
	slabs_remove(&o->lists[s->class].full, s); /* it is there, as grow_large asked */
	return slab_close(s);
}

static bool grow_slab(struct owner *o, struct slab *s, struct units u, unsigned class)
{
	unsigned count = class_units(class, true);

	if (class_is_aligned(class) && ((uintptr_t)s->base & (class_size(class) - 1)) != 0)
		return false;
	if (!units_extend(o->heap, u, count))
		return false;
	u = slab_of_block_ends(o, s);
	u.count = (uint16_t)count;
	s = slab_open(o->heap, u, class, (uint64_t)(uintptr_t)o);
	s->opened = 1;
	s->all_free = 1;
	slabs_append(&o->lists[class].full, s);
	store_relaxed(&s->free[0], 0);
	return true;
}

/* Only a block that begins its chunk, with no other slab in it, gets all units. */
static bool grow_to_span(struct owner *o, struct slab *s, struct units u, size_t size)
{
	if (size > CHUNK_SIZE || !units_extend(o->heap, u, CHUNK_UNITS))
		return false;
	span_of_chunk(o->heap, slab_of_block_ends(o, s).chunk, size);
	return true;
}

bool grow_large(void *p, size_t size)
{
	struct owner *o;
	struct units u;
	uint64_t index;
	struct slab *s;
	bool grown;

	/*
	 * Samples of large blocks are known by address and size.  A slab that looks ready, as one does
	 * whose slot came from a bin, is on the partial list although its slot is taken.
	 */
	if (SAMPLED || !own_slot(p, &s, &index) || s->class <= CLASS_ONE || slab_is_ready(s))
		return false;
	seat_close();
	o = seat.self;
	owner_begin(o);
	u = (struct units){s->chunk, s->unit, s->units, false};
	grown = size <= SLOT_MAX ? grow_slab(o, s, u, class_larger(size)) : grow_to_span(o, s, u, size);
	owner_end(o);
	seat_open();
	return grown;
}
