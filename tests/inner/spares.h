/* SPDX-License-Identifier: MIT */
/* Questions of tests about an owner record's spares. */
#ifndef TESTS_INNER_SPARES_H
#define TESTS_INNER_SPARES_H

#include "rt.h"
#include "thread/owner.h"

/* How many there are; each says where it is. */
static inline unsigned spares_number(const struct owner *o)
{
	unsigned i, n = 0, weight = 0;

	for (i = 0; i < SPARES; i++)
		if (o->spares[i] != NULL) {
			CHECK_EQ(o->spares[i]->spare, i + 1);
			weight += SPARE_WEIGHT(o->spares[i]->units);
			n++;
		}
	CHECK_EQ(o->spare_units, weight);
	return n;
}

/* The one that became a spare last, if it is one still; NULL: it is not. */
static inline struct slab *spares_newest(const struct owner *o)
{
	return o->spares[(o->spare_next + SPARES - 1) % SPARES];
}

/* Units of large spares; each is found by its units. */
static inline size_t spares_large(const struct owner *o)
{
	size_t units = 0;
	unsigned i;

	for (i = 0; i < SPARES; i++)
		if (o->spares[i] != NULL && o->spares[i]->slots == 1 && o->spares[i]->units > 1) {
			CHECK(o->spares[i]->units < sizeof o->large / sizeof *o->large);
			CHECK((o->large[o->spares[i]->class] >> (i + 1) & 1) == (o->spares[i]->ready == 0));
			units += o->spares[i]->units;
		}
	return units;
}

#endif
