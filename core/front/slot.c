/* SPDX-License-Identifier: MIT */
#include "front/slot.h"

#include "backend/heap.h"
#include "slab/unowned.h"
#include "thread/refill.h"
#include "thread/seating.h"

void *slot_alloc(unsigned class, bool *clean)
{
	struct owner *o = seat_take();
	void *p;

	if (unlikely(o == NULL)) {
		*clean = false;
		return unowned_slot(&heap_default, class);
	}
	p = refill_slot(o, class, clean);
	seat_open();
	if (unlikely(p == NULL)) {
		*clean = false;
		p = unowned_rest(&heap_default, class);
	}
	return p;
}

bool slot_find(const struct chunk *c, const void *p, struct slot_ref *at)
{
	/* A unit without a slab maps to the chunk's head, which rejects every pointer (layout.h). */
	return slot_find_in(slab_record(c, p), p, at);
}

bool slot_is_taken(const struct slot_ref *at)
{
	uint64_t word = load_relaxed(&at->slab->free[at->group]);

	if ((load_relaxed(&at->slab->owner) & OWNER_UNOWNED) == 0)
		word |= load_relaxed(&at->slab->remote[at->group]);
	return (word & at->bit) == 0;
}
