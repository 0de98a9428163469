/* SPDX-License-Identifier: MIT */
#include "heaps/building.h"

#include "backend/shared.h"

struct building building_begin(struct heap *h, struct owner *o)
{
	struct building b = {NULL, BUILDING_PRIVATE, 0, NULL, NULL};

	if (!heap_kind(h)->own_records) {
		shared_hooks_now()->building_begin(h, o, &b);
	} else if (o != NULL && (load_relaxed(&o->building) & LISTS_CHANGING) == 0) {
		b.word = &o->building;
		owner_begin(o);
	}
	return b;
}

void building_end(struct building b)
{
	if (b.as != BUILDING_PRIVATE) {
		shared_hooks_now()->building_end(&b);
		return;
	}
	signal_fence(); /* like owner_end */
	if (b.word != NULL)
		store_relaxed(b.word, 0);
}
