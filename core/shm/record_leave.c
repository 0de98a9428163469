/* SPDX-License-Identifier: MIT */
#include "shm/record_leave.h"

#include "shm/building.h"
#include "shm/intent_settle.h"
#include "thread/holder.h"
#include "thread/shrink.h"
#include "thread/visit.h"

void record_rest(struct heap *h, struct owner *o)
{
	struct building b = building_begin(h, o);

	if (h->sharing == PAGES_SHARED)
		intents_settle(o, true);
	shrink_before_vacate(o);
	building_end(b);
}

void record_vacate(struct heap *h, struct owner *o)
{
	struct building b;

	owner_vacate(o);
	b = building_begin(h, NULL);
	visit_vacant(o);
	building_end(b);
}
