/* SPDX-License-Identifier: MIT */
/* Giving memory back on request. */
#include "ashlar.h"
#include "hollow.h"
#include "reap.h"
#include "region.h"
#include "shared.h"

/* Records that no thread holds: what can come free in them does. */
static void trim_vacant(struct heap *h)
{
	struct owner *v;

	for (v = load_acquire(&h->owners); v != NULL; v = v->next) {
		if (!owner_hold(v))
			continue;
		owner_collect_all(v);
		owner_shrink(v);
		owner_vacate(v);
		owner_visit(v);
	}
}

void heap_gather(struct heap *h, struct owner *o)
{

	(void)owner_reap(h, o);
	if (o != NULL) {
		owner_collect_all(o);
		owner_shrink(o);
		trim_vacant(h);
	}
	(void)shared_shrink(h);
}

size_t heap_give_back(struct heap *h, struct owner *o, size_t keep)
{
	size_t bytes, left, room;

	heap_gather(h, o);
	bytes = heap_trim(h, keep);
	store_relaxed(&h->refused, 0); /* it may be asked again */
	left = load_relaxed(&h->dirty) * UNIT_SIZE;
	room = keep > left ? keep - left : 0;
	if (o != NULL) {
		bytes += hollow_purge(o, &room);
		bytes += hollow_purge_others(h, o, &room);
	}
	if (keep == 0)
		(void)region_trim(h);
	return bytes;
}

size_t ash_trim(size_t keep)
{
	struct owner *o = seat_take();
	size_t bytes = heap_give_back(&heap_default, o, keep);

	if (o != NULL)
		seat_give();
	return bytes;
}
