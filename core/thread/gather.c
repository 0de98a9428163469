/* SPDX-License-Identifier: MIT */
#include "thread/gather.h"

#include "slab/unowned.h"
#include "thread/reap.h"
#include "thread/seating.h"
#include "thread/shrink.h"
#include "thread/visit.h"

void heap_gather(struct heap *h, struct owner *o)
{
	if (SEATED) {
		(void)reap_all(h, o);
		if (o != NULL) {
			shrink_lists(o, SHRINK_ALL);
			visit_all(h);
		}
	}
	(void)unowned_shrink(h);
}

void gather_own(void)
{
	struct owner *o = seat_take();

	heap_gather(&heap_default, o);
	if (o != NULL)
		seat_give(o);
}
