/* SPDX-License-Identifier: MIT */
#include "thread/spare.h"

void spares_drop(struct owner *o, unsigned i)
{
	o->spares[i]->spare = false;
	for (o->spare_count--; i < o->spare_count; i++)
		o->spares[i] = o->spares[i + 1];
}

void spares_forget(struct owner *o, struct slab *s)
{
	unsigned i;

	for (i = 0; i < o->spare_count; i++)
		if (o->spares[i] == s) {
			spares_drop(o, i);
			return;
		}
}
