/* SPDX-License-Identifier: MIT */
#include "thread/spare.h"

/* Not inlined, as slab_open: four callers, and pages of code count. */
__attribute__((noinline)) void spares_remove(struct owner *o, struct slab *s)
{
	size_t place = s->spare;

	s->spare = 0;
	o->spare_units = (uint8_t)(o->spare_units - SPARE_WEIGHT(s->units));
	o->spares[place - 1] = NULL;
	if (o->large[s->units] >> place & 1) /* mostly not, and then its page is not written */
		o->large[s->units] -= (uint32_t)1 << place;
}
