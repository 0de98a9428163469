/* SPDX-License-Identifier: MIT */
#include "front/slot.h"

#include "backend/heap.h"
#include "front/variant.h"
#include "slab/unowned.h"
#include "thread/bin.h"
#include "thread/refill.h"
#include "thread/seating.h"

/* Takes a slot from the cheapest source that has a slot. */
static void *slot_any(unsigned class, bool *clean)
{
	struct owner *o = seat_take();
	void *p;

	if (unlikely(o == NULL)) {
		*clean = false;
		return unowned_slot(&heap_default, class);
	}
	p = refill_slot(o, class, clean);
	seat_give(o);
	if (unlikely(p == NULL)) {
		*clean = false;
		p = unowned_rest(&heap_default, class);
	}
	return p;
}

unsigned slot_class_large(unsigned class)
{
	return slab_packs(&heap_default, class) ? class : class_widest(class);
}

void *slot_alloc(unsigned class, bool *clean)
{
	void *p = sample_slot(class);

	if (p != NULL) {
		*clean = false;
		return p;
	}
	class = slot_class(class);
	p = slot_any(class, clean);
	sample_large_slot(p, class);
	return p;
}

void *slot_larger(unsigned class, size_t alignment, bool *clean)
{
	struct owner *o = seat_take();
	void *p = NULL;

	while (o != NULL && p == NULL && (class = refill_larger(o, class, alignment)) < CLASSES) {
		p = bin_slot(o, &o->bins[class], clean);
		bin_detach(o, class); /* the slab first serves its own class */
	}
	if (o != NULL)
		seat_give(o);
	sample_large_slot(p, class);
	return p;
}

/* Blocks above SLOT_LARGE do not come from bins, and blocks above SLOT_MAX do not come from slabs. */
static SLOW void *slot_try_large(struct owner *o, size_t size, bool *clean)
{
	unsigned class = size <= SLOT_MAX ? slot_class(class_larger(size)) : CLASSES;
	void *p = NULL;

	if (class < CLASSES) {
		owner_begin(o);
		p = large_take(o, class, clean);
		owner_end(o);
	}
	seat_open();
	sample_large_slot(p, class);
	return p;
}

void *slot_try(size_t size, bool *clean)
{
	struct owner *o;
	struct bin *b;
	void *p;

	if (unlikely(seat.open == 0))
		return NULL;
	seat_close();
	o = seat.self;
	if (unlikely(size > SLOT_LARGE))
		return slot_try_large(o, size, clean);
	b = likely(size <= SLOT_SMALL) ? bin_small(o, seat_small(size))
				       : &o->bins[class_larger(size)];
	p = sample_in(o, b) ? NULL : bin_slot(o, b, clean);
	seat_open();
	return p;
}

bool slot_find(const struct chunk *c, const void *p, struct slot_ref *at)
{
	/* A unit without a slab maps to the chunk's head, which rejects every pointer (layout.h). */
	return slot_find_in(slab_record(c, p), p, at);
}
