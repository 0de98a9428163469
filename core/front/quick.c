/* SPDX-License-Identifier: MIT */
/* A fast path for operator new; only in malloc's builds. */
#include "front/quick.h"

FAST void *ash_alloc_or(size_t size, ash_rest *rest)
{
	bool clean;
	void *p;

	if (unlikely(size > SLOT_SMALL))
		return rest(size);
	p = quick_slot(class_small[(size + 7) / 8], &clean, true);
	return likely(p != NULL) ? p : rest(size);
}
