/* SPDX-License-Identifier: MIT */
/*
 * A look at a slab (slab/look.h), interrupted at each instruction by what others may do
 * meanwhile: its owner collects, or the record gets another slab, and the former class again.
 */
#include "slab/look.h"

#include "heaps/instance.h"
#include "inner/slots.h"
#include "slab/unowned.h"
#include "support/handler_at_step.h"

enum { FEW = 5 };

static struct slab *slab;
static struct look l;
static struct look_group words;
static bool right;

static void call_look(void)
{
	l = look_begin(slab);
	right = look_at_group(&l, 0, &words);
}

/* ---- another slab in the record ---- */

/* Of the slab that the record has in turn. */
static const struct {
	size_t size, blocks;
} kinds[2] = {{112, 3}, {320, FEW}};
static char *blocks[FEW];
static unsigned kind, looks_right;

static void take_blocks(void)
{
	for (size_t i = 0; i < kinds[kind].blocks; i++) {
		blocks[i] = ash_alloc(kinds[kind].size);
		CHECK(slab == NULL || place_of(blocks[i]).slab == slab);
	}
}

static void change_slab(void)
{
	release_each(blocks, kinds[kind].blocks);
	ash_thread_detach(); /* gives the empty slab back */
	kind ^= 1;
	take_blocks();
}

/* A look that is true saw one of the two slabs, and nothing of the other. */
static void check_look(void)
{
	unsigned of;

	if (!right)
		return;
	looks_right++;
	of = l.size == kinds[1].size;
	CHECK_EQ(l.size, kinds[of].size);
	CHECK_EQ(words.taken, ((uint64_t)1 << kinds[of].blocks) - 1);
}

TEST(look_while_the_record_changes, 20)
{
	size_t k, stride = rt_in_full() ? 1 : rt_under_qemu() ? 11 : 7;

	CHECK(ash_alloc(3000) != NULL); /* holds the chunk */
	take_blocks();
	slab = place_of(blocks[0]).slab;
	step_begin(change_slab);
	for (k = 0; with_act_at(k, call_look); k++)
		check_look();
	CHECK(k > 50 && looks_right > 0);
	/* Changed, and changed back: the class, the place and the address are the same again. */
	looks_right = 0;
	for (act_again = 1; act_again < 60; act_again += act_again + 1)
		for (k = 0; with_act_at(k, call_look); k += stride)
			check_look();
	CHECK(looks_right > 0);
}

/* ---- collecting ---- */

static void release(void *p)
{
	ash_release(p);
}

DOES(collect, (void)slab_collect(slab, false));

TEST(look_while_collected, 20)
{
	char *stays = ash_alloc(48), *p;
	size_t k;
	bool more = true;

	slab = place_of(stays).slab;
	step_begin(collect);
	for (k = 0; more; k++) {
		p = ash_alloc(48);
		CHECK(place_of(p).slab == slab && place_of(p).index < 64);
		rt_in_thread(release, p);
		more = with_act_at(k, call_look);
		/* Released, before the look and after it; whether it is collected is not certain. */
		CHECK(right && (words.taken >> place_of(p).index & 1) == 0);
		CHECK((words.taken >> place_of(stays).index & 1) == 1);
		(void)slab_collect(slab, false);
	}
	CHECK(k > 50);
}

/* A slot that is taken has a size; no other address of the slab has, nor a slot that its thread or another one released. */
TEST(look_at_slot_finds_taken_ones, 10)
{
	char *p = ash_alloc(5000);
	struct slot_ref at = place_of(p);
	size_t size = at.slab->slot_size;
	uint64_t index = SLAB_SLOTS;

	CHECK(look_at_slot(at.slab, p, &index) == size && index == at.index);
	CHECK_EQ(look_at_slot(at.slab, p + 8, &index), 0);
	/* Behind the last slot the bit of the word is that of a taken one. */
	CHECK(at.slab->slots % GROUP_SLOTS != 0);
	CHECK_EQ(look_at_slot(at.slab, at.slab->base + at.slab->slots * size, &index), 0);
	at.slab->remote[at.group] |= at.bit;
	CHECK_EQ(look_at_slot(at.slab, p, &index), 0);
	at.slab->remote[at.group] &= ~at.bit;
	ash_release(p);
	CHECK_EQ(look_at_slot(at.slab, p, &index), 0);
	/* The first slot of an unowned slab, and a record that was never used. */
	do
		p = NOT_NULL(unowned_slot(&heap_default, class_of(48)));
	while (place_of(p).index != 0);
	CHECK(look_at_slot(place_of(p).slab, p, &index) == 48 && index == 0);
	CHECK_EQ(look_at_slot(&(struct slab){.owner = 0}, p, &index), 0);
}

/* ---- an unowned slab that is made ---- */

static void make_ends(void)
{
	slab->free[0] = slab_group_mask(slab, 0);
	slab->owner = OWNER_UNOWNED;
}

/* Meanwhile a word of 0 is no block's, also if that ends between the look's words; another word is as ever. */
TEST(look_while_an_unowned_slab_is_made, 10)
{
	void *p = NOT_NULL(unowned_slot(&heap_default, class_of(48)));
	struct slot_ref at = place_of(p);
	bool more = true;

	slab = at.slab;
	CHECK(slab_is_unowned(slab) && at.group == 0);
	slab->owner |= OWNER_CHANGING;
	call_look();
	CHECK(right && words.taken == at.bit);
	step_begin(make_ends);
	for (size_t k = 0; more; k++) {
		slab->owner = OWNER_UNOWNED | OWNER_CHANGING;
		slab->free[0] = 0;
		more = with_act_at(k, call_look);
		CHECK(!right || words.taken == 0);
	}
}
