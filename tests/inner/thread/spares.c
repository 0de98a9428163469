/* SPDX-License-Identifier: MIT */
/* The places of an owner record's spares (core/thread/settle.c) are filled and left in turn, around. */
#include "inner/slots.h"
#include "inner/spares.h"

enum { BLOCKS = SPARES + SPARES / 2 };

/*
 * In a large heap there is a spare in each place, and each new one takes that of the oldest.  When the heap is
 * small, the next one goes on from there beyond the last place: the oldest go, whatever their places.
 */
TEST(spares_go_around, 10)
{
	void *p[BLOCKS], *small = ash_alloc(1);
	const struct owner *o = seat.self;
	struct slab *s[BLOCKS];
	unsigned i, first = class_of(SPARE_FREE) + 1;

	/* A bin follows the last place in the record: it must not be taken for a place. */
	CHECK((const void *)&o->spares[SPARES] == &o->bins[0].slab && o->bins[0].slab != 0);
	for (i = 0; i < BLOCKS; i++) {
		p[i] = ash_alloc(class_size(first + i));
		s[i] = place_of(p[i]).slab;
		CHECK(s[i]->units == 1 && s[i] == current_slab(o, first + i));
	}
	heap_default.used += SPARE_FROM;
	for (i = 0; i < BLOCKS; i++) {
		ash_release(p[i]);
		CHECK(o->spares[i % SPARES] == s[i]);
		CHECK_EQ(o->spare_next, (i + 1) % SPARES);
		CHECK_EQ(spares_number(o), i < SPARES ? i + 1 : SPARES);
		CHECK(i < SPARES || o->bins[first + i - SPARES].slab == 0); /* the oldest went, with its unit */
	}
	heap_default.used -= SPARE_FROM;
	p[0] = ash_alloc(class_size(first));
	ash_release(p[0]);
	CHECK_EQ(o->spare_units, SPARE_UNITS);
	CHECK_EQ(spares_number(o), SPARE_UNITS / 2);
	CHECK(spares_newest(o) == place_of(p[0]).slab);
	for (i = 0; i < BLOCKS; i++)
		CHECK((o->bins[first + i].slab != 0) == (i == 0 || i > BLOCKS - SPARE_UNITS / 2));
	ash_release(small);
	CHECK_EQ(ash_check(), 0);
}
