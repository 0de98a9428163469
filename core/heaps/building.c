/* SPDX-License-Identifier: MIT */
#include "heaps/building.h"

#include "heaps/kind.h"

struct building building_begin(struct heap *h, struct owner *o)
{
	struct building b = {NULL, BUILDING_PRIVATE, 0, NULL, NULL};

	if (!heap_kind(h)->own_records) {
		instance_kind_of(h)->building_begin(h, o, &b);
	} else if (o != NULL && (load_relaxed(&o->building) & LISTS_CHANGING) == 0) {
		b.word = &o->building;
		owner_begin(o);
	}
	return b;
}

void building_end(struct building b)
{
	if (b.as != BUILDING_PRIVATE) {
		load_relaxed(&instance_kinds[SEATS_SHARED])->building_end(&b);
		return;
	}
	signal_fence(); /* like owner_end */
	if (b.word != NULL)
		store_relaxed(b.word, 0);
}
