/* SPDX-License-Identifier: MIT */
#include "shm/record_leave.h"

#include "shm/building.h"
#include "thread/collect.h"
#include "thread/holder.h"
#include "thread/shrink.h"

void record_rest(struct heap *h, struct owner *o)
{
	struct building b = building_begin(h, o);

	owner_rest(o);
	building_end(b);
}

void record_vacate(struct heap *h, struct owner *o)
{
	struct building b;

	owner_vacate(o);
	b = building_begin(h, NULL);
	owner_visit(o);
	building_end(b);
}
