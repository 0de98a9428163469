/* SPDX-License-Identifier: MIT */
/* Giving memory back on request. */
#include "ashlar.h"
#include "hollow.h"
#include "reap.h"
#include "region.h"
#include "shared.h"

/* Records that no thread holds: what can come free in them does. */
static size_t trim_vacant(struct heap *h, size_t *room, bool inside)
{
	struct owner *v;
	size_t bytes = 0;

	if (inside && h->sharing != PAGES_PRIVATE)
		return 0;
	for (v = load_acquire(&h->owners); v != NULL; v = v->next) {
		if (!owner_hold(v))
			continue;
		if (inside) {
			bytes += hollow_purge(v, room);
		} else {
			owner_collect_all(v);
			owner_shrink(v);
		}
		owner_vacate(v);
		owner_visit(v);
	}
	return bytes;
}

void heap_gather(struct heap *h, struct owner *o)
{
	size_t room = 0;

	(void)owner_reap(h, o);
	if (o != NULL) {
		owner_collect_all(o);
		owner_shrink(o);
		(void)trim_vacant(h, &room, false);
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
		bytes += trim_vacant(h, &room, true);
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
