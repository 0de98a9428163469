/* SPDX-License-Identifier: MIT */
/* Bins: which slot is taken, which slab is current, and the state that a thread leaves that vanishes in between. */
#include "inner/slots.h"

#include "inner/spares.h"
#include "slab/look.h"
#include "support/handler_at_step.h"
#include "thread/seating.h"

enum { MOST = 4096, SIZE = 64 };
static char *block[MOST];
static struct owner *o;
static struct bin *bin;

/* So many slabs of a fresh class of which each slot is taken, the last one current; returns the slots. */
static size_t slabs_used_up(size_t size, unsigned slabs)
{
	struct slab *s = NULL;
	size_t n = 0;

	for (; slabs > 0; slabs--) {
		block[n] = ash_alloc(size);
		s = place_of(block[n]).slab;
		CHECK(n + s->slots <= MOST);
		for (uint64_t i = 1; i < s->slots; i++)
			block[n + i] = ash_alloc(size);
		n += s->slots;
	}
	CHECK(s != NULL && place_of(block[n - 1]).slab == s);
	o = seat.self;
	bin = &o->bins[s->class];
	CHECK(bin_slab(o, bin) == s && s->ready == 0 && bin->partial.head == NULL);
	return n;
}

static size_t listed(const struct slabs *l)
{
	size_t n = 0;

	for (const struct slab *s = l->head; s != NULL; s = s->next)
		n++;
	return n;
}

/* Of each slab of the record: the bits say exactly which groups have a free slot. */
static void check_ready(void)
{
	struct walk w = walk_from(&heap_default);
	const struct slab *s;

	while ((s = walk_next(&w)) != NULL)
		for (unsigned g = 0; owner_has(seat.self, s) && g < s->groups; g++)
			CHECK((s->ready >> g & 1) == (s->free[g] != 0));
	CHECK_EQ(ash_check(), 0);
}

/* The lowest slot that is free is next, in whatever group; memory of the slab is touched from its beginning on. */
TEST(bin_takes_the_lowest_slot, 10)
{
	static const unsigned order[] = {70, 3, 255, 130, 71, 4, 128};
	struct slab *s = place_of(ash_alloc(SIZE)).slab;

	block[0] = s->base;
	for (unsigned i = 1; i < 4 * GROUP_SLOTS; i++) {
		block[i] = ash_alloc(SIZE);
		CHECK(block[i] == s->base + (size_t)i * SIZE);
	}
	for (size_t i = 0; i < sizeof order / sizeof *order; i++)
		ash_release(block[order[i]]);
	check_ready();
	CHECK(ash_alloc(SIZE) == block[3] && ash_alloc(SIZE) == block[4] && ash_alloc(SIZE) == block[70]);
	CHECK(ash_alloc(SIZE) == block[71] && ash_alloc(SIZE) == block[128] && ash_alloc(SIZE) == block[130]);
	CHECK(ash_alloc(SIZE) == block[255] && ash_alloc(SIZE) == block[255] + SIZE);
	check_ready();
}

/* Whatever is released and allocated, in slabs that are nearly full, too. */
TEST(bin_ready_bits_are_exact, 10)
{
	size_t n = slabs_used_up(SIZE, 5);
	unsigned seed = 1;

	for (unsigned i = 0; i < 6000; i++) {
		seed = seed * 1664525 + 1013904223;
		if (block[seed % n] != NULL) {
			ash_release(block[seed % n]);
			block[seed % n] = NULL;
		}
		seed = seed * 1664525 + 1013904223;
		if (block[seed % n] == NULL && i % 8 != 0)
			block[seed % n] = ash_alloc(SIZE);
		if (i % 100 == 0)
			check_ready();
	}
	CHECK_EQ(bin->slabs, 5);
}

/* A slab is on a list only while it has free slots and is not current; the slab that waited longest is next. */
TEST(bin_goes_to_the_slab_that_waited_longest, 10)
{
	size_t n = slabs_used_up(SIZE, 4), slots = n / 4;
	struct slab *s[4];

	for (size_t i = 0; i < 4; i++)
		s[i] = place_of(block[i * slots]).slab;
	ash_release(block[3 * slots]); /* of the current slab */
	CHECK(bin_slab(o, bin) == s[3] && bin->partial.head == NULL);
	ash_release(block[slots]);
	ash_release(block[0]);
	ash_release(block[2 * slots]);
	ash_release(block[slots + 1]);
	CHECK(bin->partial.head == s[1] && s[1]->next == s[0] && s[0]->next == s[2] && s[2]->next == NULL);
	CHECK(ash_alloc(SIZE) == block[3 * slots] && ash_alloc(SIZE) == block[slots]);
	CHECK(bin_slab(o, bin) == s[1] && s[3]->hold == SLAB_IDLE && s[1]->hold == SLAB_IN_USE);
	CHECK(ash_alloc(SIZE) == block[slots + 1] && ash_alloc(SIZE) == block[0] && ash_alloc(SIZE) == block[2 * slots]);
	CHECK(bin->partial.head == NULL && bin->slabs == 4);
	check_ready();
}

/* Where all slabs are full, a release makes its slab current: no list changes. */
TEST(bin_goes_to_a_slab_that_was_full, 10)
{
	size_t n = slabs_used_up(SIZE, 3);

	for (size_t i = 5; i < n; i += 77) {
		struct slab *before = bin_slab(o, bin), *s = place_of(block[i]).slab;

		o->steps = 0;
		ash_release(block[i]);
		CHECK(bin_slab(o, bin) == s && bin->partial.head == NULL);
		CHECK(before == s || before->hold == SLAB_IDLE);
		CHECK(s->hold == SLAB_IN_USE && o->building == 0 && seat.open == SEAT_OPEN);
		CHECK(s->all_free == 0); /* current slabs of small classes are not armed */
		CHECK(ash_alloc(SIZE) == block[i] && o->steps == 1);
		CHECK_EQ(ash_check(), 0);
	}
}

/* A slab of a single slot is empty after the release, so that it becomes a spare. */
TEST(bin_slab_of_a_single_slot_becomes_a_spare, 10)
{
	size_t n = slabs_used_up(30000, 2);
	const struct slab *first = place_of(block[0]).slab;

	CHECK(n == 2 && first->slots == 1 && bin_slab(o, bin) != first);
	ash_release(block[0]);
	CHECK(spares_newest(o) == first);
	CHECK_EQ(ash_check(), 0);
}

/* A slab that another thread purges is not made current. */
TEST(bin_leaves_a_slab_that_is_held, 10)
{
	struct slab *s, *last;

	(void)slabs_used_up(SIZE, 3);
	s = place_of(block[0]).slab;
	last = bin_slab(o, bin);
	s->hold = holder_guest(&heap_default);
	ash_release(block[0]);
	CHECK(bin_slab(o, bin) == last && bin->partial.head == s);
	CHECK(place_of(ash_alloc(SIZE)).slab != s);
	s->hold = SLAB_IDLE;
	CHECK_EQ(ash_check(), 0);
}

/* A slab of large slots is never current, also where it has several (slab_packs). */
TEST(bin_takes_no_large_slab, 10)
{
	enum { LARGE = 40000, MANY = 40 };
	struct slab *s = NULL;

	heap_default.locked = 1; /* as after mlockall: slabs of this size share their units */
	alloc_each(block, MANY, LARGE);
	for (size_t i = 0; i < MANY && (s == NULL || s->slots == 1 || s->ready != 0); i++) {
		s = place_of(block[i]).slab;
		block[0] = block[i];
	}
	CHECK(s != NULL && s->slots > 1 && s->ready == 0);
	ash_release(block[0]);
	CHECK(!bin_has(seat.self, s) && s->ready != 0);
	CHECK_EQ(ash_check(), 0);
}

/* Slabs of larger slots notice that they are empty, wherever the bin has been: all but the spares go. */
TEST(bin_slabs_get_empty, 10)
{
	size_t n = slabs_used_up(3000, 3);
	struct slab *s = place_of(block[0]).slab;

	s->all_free = 0; /* as of a slab that was a spare before */
	ash_release(block[0]);
	CHECK(bin->partial.head == s && s->all_free != 0);
	for (size_t i = 1; i < n; i++)
		ash_release(block[i]);
	CHECK(s->spare && spares_number(o) == 3 && listed(&bin->partial) == 2);
	CHECK_EQ(ash_check(), 0);
}

/* A bit too many, which a holder leaves that vanishes in between, costs a look: it is cleared, and its group is not used. */
TEST(bin_ready_bit_of_a_full_group, 10)
{
	struct slab *s;
	char *p;

	(void)slabs_used_up(SIZE, 2);
	s = bin_slab(o, bin);
	s->ready = 5;
	p = ash_alloc(SIZE);
	CHECK(p != NULL && place_of(p).slab != s && s->ready == 0 && s->hold == SLAB_IDLE);
	check_ready();
	bin_slab(o, bin)->ready |= 1;
	CHECK(ash_alloc(SIZE) != NULL && ash_zalloc(1, SIZE) != NULL);
	check_ready();
}

/* A zeroed block needs no clearing as long as nothing was released into its slab since it was made of clean memory. */
TEST(bin_slab_gets_dirty, 10)
{
	char *p = ash_zalloc(1, 208);
	struct slab *s = place_of(p).slab;

	CHECK(!s->dirty);
	memset(p, 1, 208);
	ash_release(p);
	CHECK(s->dirty && ash_zalloc(1, 208) == p);
	for (size_t i = 0; i < 208; i++)
		CHECK_EQ(p[i], 0);
}

/* ---- a thread that vanishes at any instruction ---- */

static size_t looks, midst;

/* Bins and lists are right wherever the record is not marked, and no slot is free of which no bit tells. */
static void look(void)
{
	struct walk w = walk_from(&heap_default);
	const struct slab *s;
	size_t n = 0;

	looks++;
	if (o->building != 0) {
		midst++;
		return;
	}
	for (s = bin->partial.head; s != NULL; s = s->next, n++)
		CHECK(owner_has(o, s) && s->ready != 0 && !bin_has(o, s));
	while ((s = walk_next(&w)) != NULL) {
		if (!owner_has(o, s) || &o->bins[s->class] != bin)
			continue;
		for (unsigned g = 0; g < s->groups; g++)
			CHECK(s->free[g] == 0 || (s->ready >> g & 1) != 0);
		n -= s->ready != 0 && !bin_has(o, s);
		CHECK(!bin_has(o, s) || s->hold == SLAB_IN_USE);
	}
	CHECK_EQ(n, 0);
}

static char *victim;
DOES(release_victim, ash_release(victim));
DOES(alloc_victim, victim = ash_alloc(SIZE));

static void at_each_step(void (*work)(void), void (*undo)(void), bool marked)
{
	bool more = true;

	looks = midst = 0;
	step_begin(look);
	for (size_t k = 0; more; k++) {
		more = with_act_at(k, work);
		undo();
		o->steps = 0;
	}
	CHECK(looks > 20 && (midst > 0) == marked);
	CHECK_EQ(ash_check(), 0);
}

TEST(bin_vanishes_in_a_release, 30)
{
	size_t n = slabs_used_up(SIZE, 2);

	victim = block[7]; /* of the slab that is not current */
	CHECK(place_of(victim).slab != bin_slab(o, bin));
	step_begin(look);
	for (size_t k = 0, more = 1; more; k++) {
		victim = place_of(block[7]).slab == bin_slab(o, bin) ? block[n - 7] : block[7];
		more = with_act_at(k, release_victim);
		CHECK(ash_alloc(SIZE) == victim);
		o->steps = 0;
	}
	CHECK(looks > 20 && midst > 0);
	/* Within a slab that has a free slot: in its group, and in a group without a free slot. */
	ash_release(block[100]);
	victim = block[101];
	at_each_step(release_victim, alloc_victim, false);
	victim = block[3];
	CHECK((place_of(victim).slab->ready & 1) == 0);
	at_each_step(release_victim, alloc_victim, false);
}

TEST(bin_vanishes_in_an_allocation, 30)
{
	size_t n = slabs_used_up(SIZE, 2);
	bool more = true;

	/* The last slot of a group, and of the slab. */
	ash_release(block[n - 1]);
	ash_release(block[n - 100]);
	at_each_step(alloc_victim, release_victim, false);
	CHECK(ash_alloc(SIZE) != NULL && ash_alloc(SIZE) != NULL && bin_slab(o, bin)->ready == 0);
	/* To the next slab of the list. */
	midst = 0;
	step_begin(look);
	for (size_t k = 0; more; k++) {
		struct slab *s = bin_slab(o, bin), *listed_slab = place_of(block[k % 2 == 0 ? 3 : n - 3]).slab;
		char *p = listed_slab != s ? block[k % 2 == 0 ? 3 : n - 3] : block[k % 2 == 0 ? n - 3 : 3];

		ash_release(s->base); /* so that the other slab is not made current at once */
		ash_release(p);
		CHECK(ash_alloc(SIZE) == s->base && s->ready == 0);
		o->steps = 0;
		more = with_act_at(k, alloc_victim);
		CHECK(victim == p && o->building == 0);
	}
	CHECK(midst > 0);
	CHECK_EQ(ash_check(), 0);
}
