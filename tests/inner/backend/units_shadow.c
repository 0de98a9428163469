/* SPDX-License-Identifier: MIT */
/*
 * Random claims, gifts, growth and purges of units, blocks above 1 MiB, and hints that are wrong.  The words of units alone
 * say what a search must find: when it ends in vain, or the heap grows, no chunk had such a run.
 */
#include "ashlar.h"
#include "backend/retain.h"
#include "backend/units.h"
#include "rt.h"

enum { HELD = 5000, SPANS = 40 };

static struct rt_random rnd;
static struct units held[HELD];
static void *spans[SPANS];
static size_t count;
static struct {
	size_t claims, grown, none, large;
} seen;

/* Some chunk has such a run, in a region of which region.part is not believed before the heap grows: `most` chunks or fewer. */
static bool exists(unsigned want, size_t most)
{
	const struct region *r;
	unsigned n = units_count(want);
	uint64_t runs;

	for (r = region_first(&heap_default); r != NULL; r = region_next(r))
		for (size_t i = 0; r->remote != NULL && r->chunks <= most && i < r->chunks; i++) {
			const struct chunk *c = region_chunk(r, i);

			if (bits_all(r->free, i, 1) || !chunk_is(c, CHUNK_SLABS) || c->units == 0)
				continue;
			runs = bits_starts(c->units, n);
			if (bits_is_power(n) && class_is_aligned(units_class(want)))
				runs &= BITS_ALL / bits_run(0, n);
			if (runs != 0)
				return true;
		}
	return false;
}

/* No hint is too low. */
static void hints_are_right(void)
{
	struct region *r;

	for (r = region_first(&heap_default); r != NULL; r = region_next(r))
		for (size_t i = 0; r->remote != NULL && i < r->chunks; i++) {
			uint8_t room = region_room(r)[i];

			CHECK(room <= CHUNK_UNITS && *region_part(r, (uint32_t)i) >= room);
			if (!bits_all(r->free, i, 1) && chunk_is(region_chunk(r, i), CHUNK_SLABS))
				CHECK(room >= bits_longest(region_chunk(r, i)->units));
		}
}

static bool low; /* from now on parts may be too low, as no gift came yet behind a race */

/* Hints of a chunk are too high, or those of all parts are too low. */
static void spoil(void)
{
	struct region *r = region_first(&heap_default);
	size_t i;

	if (low && rt_below(&rnd, 2) == 0) {
		for (; r != NULL; r = region_next(r))
			r->part = rt_below(&rnd, 4) * ROOM_EACH;
		return;
	}
	for (i = rt_below(&rnd, 8); i > 0 && region_next(r) != NULL; i--)
		r = region_next(r);
	if (r->remote == NULL || r->chunks == 0)
		return;
	i = rt_below(&rnd, r->chunks);
	if (region_chunk(r, i)->region != NULL) { /* it was open before */
		region_room(r)[i] = CHUNK_UNITS;
		*region_part(r, (uint32_t)i) = CHUNK_UNITS;
	}
}

/* For a slab of this number of units: of a class whose slots need them aligned, or of another class. */
static unsigned wanted(unsigned n)
{
	unsigned class;

	if (n == CHUNK_UNITS)
		return n | 1u << 8; /* no class has so many */
	class = class_of(n * UNIT_SIZE - rt_below(&rnd, 2) * UNIT_SIZE / 2);
	return units_for(class_is_aligned(class) && !bits_is_power(n) ? class - 1 : class, n);
}

static void claim(unsigned n, bool grow)
{
	unsigned want = wanted(n);
	uint64_t chunks = heap_default.slab_chunks;
	bool any = exists(want, SIZE_MAX), near = exists(want, 511);
	struct units u = units_claim(&heap_default, want, grow, false);

	seen.claims++;
	if (u.chunk == NULL) {
		CHECK(!grow && (low || !any));
		seen.none++;
		return;
	}
	CHECK((u.chunk->units & bits_run(u.first, n)) == 0 && u.count == n);
	CHECK(!bits_is_power(n) || !class_is_aligned(units_class(want)) || u.first % n == 0);
	if (heap_default.slab_chunks != chunks) {
		CHECK(!near && (low || !any));
		seen.grown++;
	}
	seen.large += u.chunk->region->chunks > 511;
	held[count++] = u;
}

static void give(size_t i)
{
	struct units u = held[i];
	unsigned part = (unsigned)rt_below(&rnd, u.count) + 1;

	u.count = (uint16_t)part;
	units_give(&heap_default, u);
	if (part < held[i].count) {
		held[i].first = (uint16_t)(held[i].first + part);
		held[i].count = (uint16_t)(held[i].count - part);
	} else {
		held[i] = held[--count];
	}
}

static void extend(size_t i)
{
	struct units *u = &held[i];
	unsigned n = u->count + (unsigned)rt_below(&rnd, CHUNK_UNITS - u->first - u->count + 1u);
	uint64_t more = n > u->count ? bits_run(u->first + u->count, n - u->count) : 0;
	bool is_free = (u->chunk->units & more) == more;

	CHECK_EQ(units_extend(&heap_default, *u, n), is_free);
	if (is_free)
		u->count = (uint16_t)n;
}

static void span(unsigned i)
{
	if (spans[i] != NULL && rt_below(&rnd, 3) == 0) {
		(void)ash_expand(spans[i], MIB + rt_below(&rnd, 12 * MIB));
	} else if (spans[i] != NULL) {
		ash_release(spans[i]);
		spans[i] = NULL;
	} else {
		spans[i] = NOT_NULL(ash_alloc(MIB + 1 + rt_below(&rnd, 8 * MIB)));
	}
}

static unsigned length(void)
{
	unsigned kind = (unsigned)rt_below(&rnd, 40);

	return kind == 0 ? CHUNK_UNITS : kind < 10 ? 1 + (unsigned)rt_below(&rnd, 3) : 1 + (unsigned)rt_below(&rnd, 32);
}

static void step(size_t goal)
{
	unsigned what = (unsigned)rt_below(&rnd, 1000);

	if (what < 8)
		spoil();
	else if (what < 12)
		(void)heap_trim(&heap_default, rt_below(&rnd, 100 * MIB));
	else if (what < 60)
		span((unsigned)rt_below(&rnd, SPANS));
	else if (what < 200 && count > 0)
		extend(rt_below(&rnd, count));
	else if ((count < goal && what < 700) || count == 0)
		claim(length(), what < 500);
	else
		give(rt_below(&rnd, count));
}

TEST(units_shadow, 60)
{
	static const size_t goals[] = {40, HELD - 1, 0, 40, 300, 0};
	size_t steps = rt_under_qemu() ? 700 : rt_in_full() ? 40000 : 5000, n;

	rt_seed(&rnd, rt_test_seed());
	(void)ash_alloc(1);
	for (unsigned phase = 0; phase < sizeof goals / sizeof *goals; phase++) {
		low = phase > 2;
		while (!rt_under_qemu() && count < goals[phase] / 2)
			claim(length(), true);
		for (n = 0; n < steps; n++) {
			step(goals[phase]);
			if (n % 1000 == 0) {
				CHECK_EQ(ash_check(), 0);
				if (!low)
					hints_are_right();
			}
		}
		while (count > goals[phase])
			give(rt_below(&rnd, count));
		for (unsigned i = 0; i < SPANS && goals[phase] == 0; i++) {
			ash_release(spans[i]);
			spans[i] = NULL;
		}
		(void)ash_trim(goals[phase] * MIB);
	}
	rt_print("     %zu claims, %zu grew the heap, %zu found none, %zu in large regions\n", seen.claims, seen.grown, seen.none,
		 seen.large);
	CHECK(seen.grown > 0 && seen.none > 0);
	CHECK(rt_under_qemu() || seen.large > 0);
	CHECK_EQ(ash_check(), 0);
}
