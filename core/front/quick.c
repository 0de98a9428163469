/* SPDX-License-Identifier: MIT */
/* Fast paths for large blocks and for operator new; only malloc is built with it. */
#include "front/quick.h"

#include "thread/large.h"

FAST void *ash_alloc_or(size_t size, ash_rest *rest)
{
	bool clean;
	void *p;

	if (unlikely(size > SLOT_SMALL))
		return rest(size);
	p = quick_slot(class_small[(size + 7) / 8], &clean, true);
	return likely(p != NULL) ? p : rest(size);
}

void *large_slot(size_t size, bool *clean)
{
	void *p;

	if (unlikely(seat.open == 0))
		return NULL;
	seat_close();
	p = large_take(seat.self, class_larger(size), clean);
	if (likely(p != NULL))
		p = quick_predicted(p);
	seat_give();
	return p;
}
