/* SPDX-License-Identifier: MIT */
/*
 * libashlar-small.a at each instruction of its calls, also of those in which memory comes and goes: a handler works the
 * heap there; and a child of fork, in which the call never ends, as if its thread had been killed.
 */
#include "small/pool.h"
#include "support/blocks.h"
#include "support/handler_at_step.h"
#include "support/resident.h"

enum { FILLING = 12, HELD = 3 };

static uint64_t held[HELD];
static char *filling[FILLING];

/* Blocks that the calls have nothing to do with. */
static void hold(void)
{
	static const size_t sizes[HELD] = {200, 9000, 700000};

	for (size_t i = 0; i < HELD; i++)
		held[i] = stamp_set(NOT_NULL(ash_alloc(sizes[i])), sizes[i], i + 1);
}

/* They are whole, and zeroed memory is. */
static void look(void)
{
	static const size_t sizes[] = {40, 3000, 60000, 530000};

	for (size_t i = 0; i < HELD; i++)
		stamp_check(held[i]);
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		unsigned char *p = NOT_NULL(ash_zalloc(1, sizes[i]));

		for (size_t at = 0; at < sizes[i]; at += at < 500 ? 1 : 8191)
			CHECK_EQ(p[at], 0);
		for (size_t at = 0; at < sizes[i]; at += 8191)
			p[at] = 0xa5;
		p = NOT_NULL(ash_resize(p, sizes[i] + sizes[i] / 2));
		for (size_t at = 0; at < sizes[i]; at += 8191)
			CHECK_EQ(p[at], 0xa5);
		ash_release(p);
	}
	CHECK_EQ(ash_check(), 0);
}

/* ---- the calls ---- */

static void call_small(void)
{
	ash_release(ash_alloc(100));
}

static void call_large(void)
{
	char *p = ash_zalloc(1, 3 * MIB);

	p = ash_resize(p, 5 * MIB);
	p = ash_resize(p, 600000);
	ash_release(ash_resize(p, 1000));
}

/* Pools come, and go again. */
static void call_pools(void)
{
	for (size_t i = 0; i < FILLING; i++)
		filling[i] = ash_alloc(200000);
	for (size_t i = 0; i < FILLING; i++)
		ash_release(filling[i]);
}

static void call_trim(void)
{
	ash_release(ash_alloc(300000));
	(void)ash_trim(0);
}

static const struct path {
	const char *name;
	void (*call)(void);
	size_t fewest, looks; /* instructions; at so many of them something is done */
} paths[] = {
	/* A path with fewer looks than the run is coarser is left to the full run: reaching its end takes seconds. */
	{"a block", call_small, 100, 100},
	{"large blocks", call_large, 500, 40},
	{"pools", call_pools, 1000, 30},
	{"a trim", call_trim, 1000, 1},
};

static void each(void (*what)(void), size_t coarser)
{
	size_t instructions, every, k, before = stats_now().blocks + HELD;
	unsigned steps;

	hold();
	for (const struct path *path = paths; path < paths + sizeof paths / sizeof *paths; path++) {
		if (path->looks < coarser)
			continue;
		instructions = steps_of(path->call);
		CHECK(instructions >= path->fewest);
		step_begin(what);
		every = instructions * coarser / path->looks + 1;
		steps = 0;
		/* Not the same ones of each loop. */
		for (k = 0; with_act_at(k, path->call); k += every - k % (every / 2 + 1))
			steps++;
		rt_print("     %s: at %u of %zu steps\n", path->name, steps, instructions);
		CHECK(steps >= path->looks / coarser);
		look();
		CHECK_EQ(stats_now().blocks, before);
	}
}

TEST(small_handler_at_each_step, 120)
{
	each(look, rt_in_full() ? 1 : rt_emulated() ? 6 : 2);
}

/* The thread is gone, and the rest goes on: the thread retains the block in hand, and nothing else. */
static void act_fork(void)
{
	IN_CHILD {
		char *p[64];

		look();
		for (size_t i = 0; i < 64; i++)
			memset(p[i] = NOT_NULL(ash_alloc((size_t)100 << i % 12)), 1, 100);
		look();
		release_each(p, 64);
		(void)ash_trim(0);
		look();
		/* The interrupted call had two blocks at most in hand, and those that its program holds. */
		CHECK(stats_now().blocks <= HELD + 2 + FILLING);
	}
}

TEST(small_survives_death_at_each_step, 120)
{
	each(act_fork, rt_in_full() ? 1 : rt_emulated() ? 6 : 3);
}
