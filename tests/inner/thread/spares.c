/* SPDX-License-Identifier: MIT */
/* The places of an owner record's spares (core/thread/settle.c), which are filled and left in turn, around. */
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

/*
 * In a larger heap spares weigh more, as far as it is a small share of what is in use, and that by the number of
 * records; the heaviest ones fill the places, and when the heap is small again they go.
 */
TEST(spares_of_a_large_heap, 10)
{
	enum { MANY = SPARES + 1, UNITS = 20, USED = SPARE_SHARE * UNITS * MANY };
	static const struct { uint64_t used, records; unsigned spares; } of[] = {
		{SPARE_FROM, 0, SPARE_MOST / UNITS}, {USED / 2, 0, MANY / 2}, {USED, 0, SPARES}, {USED * 16, 0, SPARES},
		{USED, 1, MANY / 2}, {USED, 3, MANY / 4}, {USED * 16, CROWD, 1},
	};
	struct owner *o;
	void *p[MANY];

	ash_release(ash_alloc(1));
	o = seat.self;
	for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
		for (unsigned j = 0; j < MANY; j++)
			CHECK((p[j] = ash_alloc(UNITS * UNIT_SIZE)) != NULL);
		heap_default.used += of[i].used;
		heap_default.owner_count += of[i].records;
		for (unsigned j = 0; j < MANY; j++)
			ash_release(p[j]);
		heap_default.used -= of[i].used;
		heap_default.owner_count -= of[i].records;
		CHECK(spares_number(o) - of[i].spares <= 1); /* what the blocks themselves use is not counted here */
		ash_release(ash_alloc(2 * UNIT_SIZE));
		CHECK(o->spare_units <= SPARE_UNITS);
	}
	CHECK_EQ(ash_check(), 0);
}

/* Where records are many, no slab of any class stays empty without being a spare, and there are four at most. */
TEST(spares_of_a_crowd, 10)
{
	enum { EACH = 200, SMALL_ONES = 12 }; /* of more groups than one, if small */
	static void *p[CLASS_ONE][EACH];
	struct owner *o;
	unsigned class, i, round, cached = 0;

	ash_release(ash_alloc(1));
	o = seat.self;
	heap_default.owner_count += CROWD;
	/* One class alone, in a slab that was just made: of 48 bytes the last group has fewer slots. */
	for (i = 0; i < EACH; i++)
		CHECK((p[0][i] = ash_alloc(48)) != NULL);
	release_each(p[0], EACH);
	CHECK(current_slab(o, class_of(48))->spare);
	for (round = 0; round < 4; round++) {
		for (class = 0; class < CLASS_ONE; class++)
			for (i = 0; i < (class < SMALL_ONES ? EACH : 1); i++)
				CHECK((p[class][i] = ash_alloc(class_size(class))) != NULL);
		for (class = 0; class < CLASS_ONE; class++)
			for (i = 0; i < (class < SMALL_ONES ? EACH : 1); i++)
				ash_release(p[class][round % 2 == 0 || class >= SMALL_ONES ? i : EACH - 1 - i]);
		CHECK(o->spare_units <= SPARE_UNITS / 2);
		for (class = 0; class < CLASS_ONE; class++)
			CHECK(o->bins[class].slab == 0 || current_slab(o, class)->spare);
		CHECK_EQ(ash_check(), 0);
	}
	heap_default.owner_count -= CROWD;
	for (class = 0; class < CLASS_ONE; class++)
		ash_release(ash_alloc(class_size(class)));
	for (class = 0; class < CLASS_ONE && class_size(class) <= SPARE_FREE; class++)
		cached += o->bins[class].slab != 0 && !current_slab(o, class)->spare;
	CHECK(cached > SPARE_UNITS); /* one of each small class otherwise */
}
