/* SPDX-License-Identifier: MIT */
#include "front/grow.h"

#include "backend/units.h"
#include "front/sample.h"
#include "front/slot.h"
#include "front/span.h"
#include "thread/large.h"
#include "thread/owner.h"

static bool grow_slab(struct owner *o, struct slab *s, struct units u, unsigned class)
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

/* Only a block that begins its chunk, with no other slab in it, gets all units. */
static bool grow_to_span(struct owner *o, struct slab *s, struct units u, size_t size)
{
	if (size > CHUNK_SIZE || !units_extend(o->heap, u, CHUNK_UNITS))
		return false;
	span_of_chunk(o->heap, large_close(o, s).chunk, size);
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
	if (SAMPLED || !own_slot(p, &s, &index) || s->class <= CLASS_ONE || s->slots != 1 ||
	    slab_is_ready(s))
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
