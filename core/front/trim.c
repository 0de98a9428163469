/* SPDX-License-Identifier: MIT */
#include "front/trim.h"

#include "ashlar.h"
#include "backend/region.h"
#include "backend/retain.h"
#include "thread/refill.h"
#include "thread/seating.h"
#include "thread/slab_purge.h"
#include "thread/takeover.h"

size_t heap_give_back(struct heap *h, struct owner *o, size_t keep)
{
	size_t bytes, left, room;

	if (SEATED && !IS_MALLOC)
		reap_alone(h, o);
	heap_gather(h, o);
	bytes = heap_trim(h, keep);
	store_relaxed(&h->refused, 0); /* memory that could not be purged may be tried again */
	left = load_relaxed(&h->dirty) * UNIT_SIZE;
	room = keep > left ? keep - left : 0;
	if (o != NULL) {
		bytes += slabs_purge(o, &room);
		bytes += slabs_purge_others(h, o, &room);
	}
	if (keep == 0)
		(void)region_trim(h, false);
	return bytes;
}

size_t ash_trim(size_t keep)
{
	struct owner *o = seat_take();
	size_t bytes = heap_give_back(&heap_default, o, keep);

	if (o != NULL)
		seat_give(o);
	return bytes;
}
