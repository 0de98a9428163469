/* SPDX-License-Identifier: MIT */
/*
 * A slot that its owner collects at any moment of a look at it: it is free before and
 * after, and no look takes it for a block.
 */
#include "diagnostics/blocks.h"
#include "inner/slots.h"
#include "support/another.h"
#include "support/handler_at_step.h"

static struct slot_ref at;
static void *left, *stays, *before; /* the walk comes to `before` first */
static struct ash_statistics stats;
static size_t seen_at; /* the boundary at which the walk came to `stays` */

/* Another thread's slab: one slot was released here, one stays. */
static void takes_two(void)
{
	left = ash_alloc(7000);
	stays = ash_alloc(7000);
}

/* As it was before slab_collect. */
static void uncollect(void)
{
	store_relaxed(&at.slab->free[at.group], load_relaxed(&at.slab->free[at.group]) & ~at.bit);
	store_relaxed(&at.slab->remote[at.group], load_relaxed(&at.slab->remote[at.group]) | at.bit);
}

DOES(collect, (void)slab_collect(at.slab, false));

static int see(UNUSED void *context, void *block,
	       UNUSED size_t size,
	       UNUSED const struct ash_heap_owner *owner)
{
	CHECK(block != left);
	if (block == before)
		trap_begin();
	if (block == stays) {
		seen_at = boundary;
		stepping = false;
	}
	return 0;
}

DOES(look_taken, CHECK(!slot_is_taken(&at)));

/* As with_act_at, but the boundaries are counted from `before` on. */
static bool walk_with_act_at(size_t k)
{
	acted = boundary = 0;
	act_at = k;
	stepping = true;
	CHECK_EQ(ash_blocks_visit(NULL, see, NULL), 0);
	stepping = false;
	return acted > 0;
}

static void look_stats(void)
{
	heap_stats(&heap_default, &stats);
	CHECK_EQ(stats.blocks, 2);
}

static void collect_in_walk(void)
{
	size_t k = 0;

	do
		if (walk_with_act_at(k))
			uncollect();
	while (k++ <= seen_at);
	CHECK(k > 40);
}

/* At each boundary of the look from this one on, and before that one. */
static void collect_in(void (*look)(void), size_t from, size_t to)
{
	bool more = true;
	size_t k;

	for (k = from; more && k < to; k++) {
		more = with_act_at(k, look);
		if (more)
			uncollect();
	}
	CHECK(k > from + 10);
}

/* The first boundary behind the look at the remote word: collecting there changes nothing for it. */
static size_t stats_boundary(void)
{
	size_t low = 0, high = 1;

	while (with_act_at(high, look_stats)) {
		uncollect();
		high *= 2;
	}
	while (low + 1 < high) {
		size_t k = (low + high) / 2;
		bool acted_there = with_act_at(k, look_stats);

		if (acted_there)
			uncollect();
		if (acted_there && stats.pending == 0)
			low = k;
		else
			high = k;
	}
	return high;
}

TEST(collected_slot_is_no_block, 60)
{
	size_t k;

	before = ash_alloc(7000);
	another_stays(takes_two);
	at = place_of(left);
	ash_release(left);
	CHECK(!slot_is_taken(&at));
	step_begin(collect);
	collect_in(look_taken, 0, SIZE_MAX);
	collect_in_walk();
	k = stats_boundary();
	collect_in(look_stats, k - 30, k + 10);
	another_goes();
}
