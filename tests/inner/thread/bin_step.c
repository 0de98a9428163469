/* SPDX-License-Identifier: MIT */
/* From group to group of a slab: the short way of allocation, and releases that are no events. */
#include "inner/slots.h"

#include "support/handler_at_step.h"
#include "thread/seating.h"

enum { BLOCKS = 3 * GROUP_SLOTS };
static char *block[BLOCKS];

/* Three groups of a fresh slab, used up; the bin is at the last one. */
static struct slot_ref three_groups(void)
{
	struct slot_ref at;

	alloc_each(block, BLOCKS, 64);
	at = place_of(block[BLOCKS - 1]);
	CHECK(at.group == 2 && at.slab->opened == 3 && at.slab->ready == 0);
	CHECK_EQ(at.slab->free[2], 0);
	return at;
}

/* Frees a slot of each of these groups; the bin, at group 2, has one, so it stays there. */
static void release_in_groups(unsigned first, unsigned second)
{
	ash_release(block[130]);
	ash_release(block[first * 64 + 3]);
	ash_release(block[second * 64 + 6]);
	CHECK(ash_alloc(64) == block[130]);
}

/* Round robin over what was released; an untouched group comes after. */
TEST(inner_bin_step_to_ready_groups, 10)
{
	struct slot_ref at = three_groups();
	struct owner *o = seat.self;

	release_in_groups(0, 1);
	o->steps = 0;
	CHECK(ash_alloc(64) == block[3]); /* after group 2 comes group 0 */
	CHECK_EQ(o->steps, OWNER_STEP);
	CHECK_EQ(o->building, 0);
	CHECK(seat.open == SEAT_OPEN);
	CHECK(ash_alloc(64) == block[70]);
	CHECK_EQ(o->steps, 2 * OWNER_STEP);
	ash_release(block[130]); /* the bin is at group 1, and group 2 is ready */
	CHECK(ash_alloc(64) == block[130]);
	CHECK_EQ(o->steps, 3 * OWNER_STEP);
	CHECK_EQ(at.slab->opened, 3);
	CHECK(place_of(ash_alloc(64)).group == 3);
	CHECK_EQ(at.slab->ready, 0); /* none of the three had a slot */
	CHECK_EQ(at.slab->opened, 4);
	CHECK_EQ(ash_check(), 0);
}

/* Which groups are next is a hint: whatever it says, the slots that are free are given, and no untouched group. */
TEST(inner_bin_step_by_a_wrong_hint, 10)
{
	struct slot_ref at = three_groups();
	uint32_t seed = 1;

	for (unsigned i = 0; i < 1000; i++) {
		char *p[3];
		unsigned g, found = 0;

		for (g = 0; g < 3; g++) {
			p[g] = block[g * GROUP_SLOTS + (seed >> 10 * g) % GROUP_SLOTS];
			ash_release(p[g]);
		}
		seed = seed * 1664525 + 1013904223;
		at.slab->found = seed >> seed % 32;
		for (unsigned n = 0; n < 3; n++) {
			char *q = ash_alloc(64);

			for (g = 0; g < 3; g++)
				found |= q == p[g] ? 1u << g : 0;
		}
		CHECK_EQ(found, 7);
	}
	CHECK_EQ(at.slab->opened, 3);
	/* Where nothing is released it is not touched: that would be a page more for each chunk. */
	CHECK(place_of(ash_alloc(64)).group == 3 && at.slab->ready == 0);
	at.slab->found = 77;
	for (unsigned n = 0; n < GROUP_SLOTS; n++)
		block[n] = ash_alloc(64);
	CHECK(place_of(block[GROUP_SLOTS - 1]).group == 4);
	CHECK_EQ(at.slab->found, 77);
	CHECK_EQ(ash_check(), 0);
}

/* Steps count on the clock from time to time, and each one while it runs. */
TEST(inner_bin_step_and_the_clock, 10)
{
	struct owner *o;

	(void)three_groups();
	o = seat.self;
	heap_default.dirty += 100000; /* invented: more than makes the clock run */
	heap_default.floor = 200000;
	o->steps = 0;
	release_in_groups(0, 1);
	CHECK_EQ(o->steps, 3 * OWNER_STEP); /* events count, too */
	CHECK(ash_alloc(64) == block[3] && o->steps == 4 * OWNER_STEP);
	CHECK_EQ(heap_default.running, 0);
	o->steps = 63 * OWNER_STEP;
	CHECK(ash_alloc(64) == block[70] && o->steps == 0);
	CHECK(heap_default.running != 0 && o->watch);
	ash_release(block[128]);
	CHECK(ash_alloc(64) == block[128]);
	CHECK_EQ(o->steps, 0);
	heap_default.dirty -= 100000;
	CHECK_EQ(ash_check(), 0);
}

/* So do releases that are events: where the bin follows them, no allocation goes the long way. */
TEST(inner_bin_follows_and_the_clock, 10)
{
	struct owner *o;

	(void)three_groups();
	o = seat.self;
	heap_default.dirty += 100000;
	heap_default.floor = 200000;
	o->steps = 62 * OWNER_STEP;
	ash_release(block[3]);
	CHECK(ash_alloc(64) == block[3]);
	CHECK(heap_default.running == 0 && !o->watch);
	ash_release(block[70]);
	CHECK(heap_default.running != 0 && o->watch);
	CHECK(ash_alloc(64) == block[70]);
	heap_default.dirty -= 100000;
	CHECK_EQ(ash_check(), 0);
}

/* The first release into a full slab readies all groups: further ones are no events. */
TEST(inner_release_into_a_full_slab, 10)
{
	struct slab *s = place_of(ash_alloc(64)).slab;
	struct owner *o = seat.self;
	char *base = s->base;

	for (uint64_t i = 1; i < s->slots; i++)
		CHECK(ash_alloc(64) == base + i * 64);
	CHECK(place_of(ash_alloc(64)).slab != s);
	CHECK(o->bins[s->class].full.head == s && s->ready == 0);
	ash_release(base);
	CHECK(o->bins[s->class].partial.head == s);
	CHECK_EQ(s->ready, (uint32_t)bits_below(s->groups));
	CHECK_EQ(s->dirty, s->ready);
	CHECK(!slab_has_event(s, 5, (uint64_t)1 << 7));
	ash_release(base + (5 * 64 + 7) * 64);
	CHECK_EQ(ash_check(), 0);
	/* Both slots are found again, and then the slab is full as before. */
	for (uint64_t i = 1; i < SLAB_SLOTS && s != o->bins[s->class].slab; i++)
		(void)ash_alloc(64);
	CHECK((s->free[0] | s->free[5]) != 0 && (s->free[0] & s->free[5]) == 0);
	(void)ash_alloc(64);
	CHECK((s->free[0] | s->free[5]) == 0);
	CHECK(place_of(ash_alloc(64)).slab != s);
	CHECK(slabs_tail(&o->bins[s->class].full) == s && s->ready == 0);
	CHECK_EQ(ash_check(), 0);
}

/* What becomes of the bin's group when the bin lets go of the slab. */
TEST(inner_bin_detach_keeps_what_is_left, 10)
{
	struct slot_ref at = three_groups();
	struct owner *o = seat_take();
	struct bin *f = &o->bins[at.slab->class];

	bin_detach(o, at.slab->class); /* clean, but used up */
	CHECK(f->partial.head == at.slab && at.slab->opened == 3 && at.slab->ready == 0);
	seat_give(o);
	CHECK(place_of(ash_alloc(64)).group == 3);
	o = seat_take();
	bin_detach(o, at.slab->class); /* clean, with slots left: untouched again */
	CHECK(f->partial.head == at.slab && at.slab->opened == 3 && at.slab->dirty == 0);
	seat_give(o);
	block[0] = ash_alloc(64);
	CHECK(place_of(block[0]).group == 3);
	ash_release(block[0]);
	o = seat_take();
	at.slab->ready = 0; /* as while the clock runs */
	bin_detach(o, at.slab->class); /* not clean: ready */
	CHECK(at.slab->opened == 4 && at.slab->ready == 8);
	seat_give(o);
	CHECK_EQ(ash_check(), 0);
}

/* ---- a thread that vanishes in the midst of a step ---- */

static struct owner *stepper;
static struct bin from, to, *stepped;
static size_t midst;

static bool bin_is(const struct bin *b)
{
	return stepped->word == b->word && stepped->base == b->base && stepped->slab == b->slab;
}

/* A thread that takes the record over trusts the bin, unless the record is marked as being changed. */
static void look_at_bin(void)
{
	if (bin_is(&from) || bin_is(&to))
		return;
	CHECK_EQ(stepper->building, 1);
	midst++;
}

DOES(alloc_one, block[BLOCKS - 1] = ash_alloc(64));

TEST(inner_bin_step_tells_who_takes_over, 30)
{
	struct slab *s = three_groups().slab;
	bool more = true;

	stepper = seat.self;
	stepped = &stepper->bins[s->class];
	step_begin(look_at_bin);
	for (size_t k = 0; more; k++) {
		size_t g = k % 2, own = k == 0 ? 2 : 1 - g; /* from a group that is used up to one with a slot */

		ash_release(block[own * GROUP_SLOTS]);
		ash_release(block[g * GROUP_SLOTS]);
		CHECK(ash_alloc(64) == block[own * GROUP_SLOTS]);
		from = to = *stepped;
		to.word = (uintptr_t)&s->free[g] - (uintptr_t)stepper;
		to.base = s->base + g * GROUP_SLOTS * s->slot_size;
		stepper->steps = 0;
		more = with_act_at(k, alloc_one);
		CHECK(block[BLOCKS - 1] == block[g * GROUP_SLOTS] && bin_is(&to));
		CHECK_EQ(stepper->steps, OWNER_STEP);
		CHECK_EQ(stepper->building, 0);
	}
	CHECK(midst > 0);
	CHECK_EQ(ash_check(), 0);
}
