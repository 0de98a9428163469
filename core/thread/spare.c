/* SPDX-License-Identifier: MIT */
#include "thread/spare.h"

void spares_remove_at(struct owner *o, unsigned i)
{
	o->spares[i]->spare = false;
	o->spare_units -= o->spares[i]->units;
	for (o->spare_count--; i < o->spare_count; i++)
		o->spares[i] = o->spares[i + 1];
}

void spares_remove(struct owner *o, struct slab *s)
{
	unsigned i;

	for (i = 0; i < o->spare_count; i++)
		if (o->spares[i] == s) {
			spares_remove_at(o, i);
			return;
		}
}
