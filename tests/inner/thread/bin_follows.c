/* SPDX-License-Identifier: MIT */
/* A release where no slot is left: the bin follows it, within its slab or to one that was full. */
#include "inner/slots.h"

#include "inner/spares.h"
#include "support/handler_at_step.h"
#include "thread/seating.h"

enum { MOST = 4096, SIZE = 64 };
static char *block[MOST];
static struct owner *o;
static struct bin *bin;
static struct bin *lists;

/* The slab of a fresh class with so many groups used up. */
static struct slab *groups_used_up(unsigned groups)
{
	struct slot_ref at = {0};

	for (size_t i = 0; i < groups * GROUP_SLOTS; i++) {
		block[i] = ash_alloc(SIZE);
		at = place_of(block[i]);
	}
	o = seat.self;
	bin = &o->bins[at.slab->class];
	lists = &o->bins[at.slab->class];
	CHECK(bin->slab == at.slab && at.group == groups - 1 && *bin_word(o, bin) == 0);
	return at.slab;
}

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
	lists = &o->bins[s->class];
	CHECK(bin->slab == s && *bin_word(o, bin) == 0 && lists->partial.head == NULL);
	return n;
}

static size_t listed(const struct slabs *l)
{
	size_t n = 0;

	for (const struct slab *s = l->head; s != NULL; s = s->next)
		n++;
	return n;
}

/* The bin is at the slot's group, which alone is ready; allocation returns the slot by its fast path. */
static void check_followed(char *p)
{
	struct slot_ref at = place_of(p);

	CHECK(bin->slab == at.slab && bin_word(o, bin) == &at.slab->free[at.group]);
	CHECK_EQ(at.slab->ready, (uint32_t)1 << at.group);
	CHECK(bin->base == at.slab->base + at.group * GROUP_SLOTS * at.slab->slot_size);
	CHECK_EQ(at.slab->hold, SLAB_IN_USE);
	CHECK(o->building == 0 && seat.open == SEAT_OPEN);
	o->steps = 0;
	CHECK(ash_alloc(at.slab->slot_size) == p);
	CHECK(o->steps == 0 && *bin_word(o, bin) == 0);
}

/* Within the slab, though it has untouched groups. */
TEST(inner_bin_follows_to_a_group, 10)
{
	struct slab *s = groups_used_up(4);
	static const unsigned order[] = {70, 3, 255, 130, 71, 4, 128};

	for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
		ash_release(block[order[i]]);
		check_followed(block[order[i]]);
		CHECK_EQ(ash_check(), 0);
	}
	CHECK_EQ(s->opened, 4);
}

/* Also if all groups were ready when the last slot was taken: a few long ways later. */
TEST(inner_bin_comes_to_follow, 10)
{
	struct slab *s = groups_used_up(4);
	unsigned seed = 1, followed = 0;

	for (size_t i = 0; i < 256; i += 64)
		ash_release(block[i]);
	for (size_t i = 0; i < 256; i += 64)
		block[i] = ash_alloc(SIZE);
	CHECK_EQ(bits_count(s->ready), 4);
	for (unsigned i = 0; i < 2000; i++) {
		seed = seed * 1664525 + 1013904223;
		ash_release(block[seed >> 24]);
		block[seed >> 24] = ash_alloc(SIZE);
		followed += bits_count(s->ready) == 1;
	}
	rt_print("     %u of 2000 releases with one ready group\n", followed);
	CHECK(followed > 1000);
	CHECK_EQ(s->opened, 4);
	CHECK_EQ(ash_check(), 0);
}

/* To a slab that was full, and back: no other one moves. */
TEST(inner_bin_follows_to_a_full_slab, 10)
{
	size_t n = slabs_used_up(SIZE, 3);
	struct slab *s;

	for (size_t i = 5; i < n; i += 77) {
		struct slab *before = bin->slab;

		s = place_of(block[i]).slab;
		ash_release(block[i]);
		check_followed(block[i]);
		CHECK(lists->partial.head == NULL && listed(&lists->full) == 2);
		CHECK(before == s || (slabs_tail(&lists->full) == before && before->hold == SLAB_IDLE));
		CHECK_EQ(ash_check(), 0);
	}
	/* The second release is no other's business. */
	s = bin->slab == place_of(block[0]).slab ? place_of(block[n - 1]).slab : place_of(block[0]).slab;
	ash_release(bin->slab->base);
	ash_release(s->base);
	CHECK(bin->slab != s && lists->partial.head == s && slabs_tail(&lists->partial) == s);
	CHECK_EQ(s->ready, (uint32_t)bits_below(s->groups));
	CHECK_EQ(ash_check(), 0);
}

/* A slab that another thread purges stays where it is; so does a bin that has slots, or none. */
TEST(inner_bin_follows_no_further, 10)
{
	size_t n = slabs_used_up(SIZE, 3);
	struct slab *s = place_of(block[0]).slab, *last = bin->slab;

	s->hold = holder_guest(&heap_default);
	ash_release(block[0]);
	CHECK(bin->slab == last && lists->partial.head == s);
	s->hold = SLAB_IDLE;
	CHECK_EQ(ash_check(), 0);
	CHECK(ash_alloc(SIZE) == block[0] && bin->slab == s);
	(void)seat_take();
	bin_detach(o, s->class);
	seat_give(o);
	ash_release(block[n - 1]);
	CHECK(bin->slab == NULL && slabs_tail(&lists->partial) == last);
	CHECK_EQ(ash_check(), 0);
}

/* Nor to a slab that had slots, though its release is an event, as it gets empty. */
TEST(inner_bin_follows_to_no_partial_slab, 10)
{
	size_t n = slabs_used_up(3000, 3), i;
	struct slab *s = place_of(block[0]).slab, *last = bin->slab;

	ash_release(block[n - 1]); /* while the bin has a slot, it stays */
	ash_release(block[0]);
	CHECK(ash_alloc(3000) == block[n - 1] && lists->partial.head == s);
	for (i = 1; i < s->slots; i++)
		ash_release(block[i]);
	CHECK(bin->slab == last && s->spare);
	CHECK(lists->partial.head == s && listed(&lists->full) == 1);
	CHECK_EQ(ash_check(), 0);
}

/* Slabs of larger slots notice that they are empty, wherever the bin has been: all but the spares go. */
TEST(inner_bin_follows_and_slabs_get_empty, 10)
{
	size_t n = slabs_used_up(3000, 3);
	struct slab *s = place_of(block[0]).slab;

	/* The first slab as one that was a spare before. */
	s->all_free = 0;
	ash_release(block[0]);
	CHECK(bin->slab == s && s->all_free != 0);
	for (size_t i = 1; i < n; i++)
		ash_release(block[i]);
	CHECK(s->spare && spares_number(o) == 3);
	CHECK_EQ(ash_check(), 0);
}

/* ---- a thread that vanishes in the midst ---- */

static struct bin from;
static size_t midst;
static char *victim;

static bool bin_is(const struct bin *b)
{
	return bin->word == b->word && bin->base == b->base && bin->slab == b->slab;
}

static void look_at_bin(void)
{
	struct slot_ref at = place_of(victim);
	struct bin to = {.word = (uintptr_t)&at.slab->free[at.group] - (uintptr_t)o,
			 .base = at.slab->base + at.group * GROUP_SLOTS * at.slab->slot_size, .slab = at.slab};

	/* Lists and hold are changed, too: all before the mark is cleared. */
	if (bin_is(&from) && lists->partial.head == NULL && listed(&lists->full) == 1)
		return;
	if (o->building == 1)
		midst++;
	else
		CHECK(bin_is(&to) && listed(&lists->full) == 1 && from.slab->hold == SLAB_IDLE);
}

DOES(release_victim, ash_release(victim));

TEST(inner_bin_follows_tells_who_takes_over, 30)
{
	size_t n = slabs_used_up(SIZE, 2);
	bool more = true;

	step_begin(look_at_bin);
	for (size_t k = 0; more; k++) {
		victim = block[k % 2 == 0 ? 7 : n - 7];
		from = *bin;
		CHECK(from.slab != place_of(victim).slab);
		more = with_act_at(k, release_victim);
		check_followed(victim);
	}
	CHECK(midst > 0);
	CHECK_EQ(ash_check(), 0);
}
