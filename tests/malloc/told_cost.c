/* SPDX-License-Identifier: MIT */
/* What a size costs that a release is told: counted, for the smallest and the largest size of each class. */
/* promises: ash_release_sized */
#include "ashlar.h"
#include "support/handler_at_step.h"
#include "support/malloc_names.h"

typedef void release_with(void *p, size_t size);

static release_with *release;
static void *block;
static size_t told;

static void call(void)
{
	release(block, told);
}

/* Without a size: the others' second argument is loaded here, too. */
static void plain(void *p, UNUSED size_t size)
{
	ash_delete(p);
}

static void sized(void *p, size_t size)
{
	ash_delete_sized(p, size);
}

static void sized_free(void *p, size_t size)
{
	free_sized(p, size);
}

static void sized_release(void *p, size_t size)
{
	ash_release_sized(p, size);
}

static void aligned(void *p, size_t size)
{
	ash_delete_aligned_sized(p, size, 16);
}

static void aligned_free(void *p, size_t size)
{
	free_aligned_sized(p, 16, size);
}

static void aligned_release(void *p, size_t size)
{
	ash_release_aligned_sized(p, 8, size);
}

/*
 * The instructions that a size may cost, and an alignment, whose load is one.  A size that is the third argument has to
 * move twice; ash_release_aligned_sized promises to look at the alignment.
 */
static const struct {
	release_with *release;
	size_t most;
} with[] = {{sized, 2}, {sized_free, 2}, {sized_release, 2}, {aligned, 2 + 1}, {aligned_free, 4 + 2}, {aligned_release, 10 + 2}};

/* The least of two: whether a release is an event is by what was released before. */
static size_t cost(release_with *by, size_t size)
{
	size_t least = SIZE_MAX, now;

	release = by;
	told = size;
	for (unsigned i = 0; i < 2; i++) {
		block = NOT_NULL(malloc(size));
		now = steps_of(call);
		least = now < least ? now : least;
	}
	return least;
}

/* Every other one of some blocks is released and allocated again: few of these releases leave their fast path. */
static void compare(size_t size)
{
	void *held[8];
	size_t without;

	for (unsigned i = 0; i < 8; i++)
		held[i] = NOT_NULL(malloc(size));
	for (unsigned i = 0; i < 8; i += 2)
		free(held[i]);
	(void)cost(plain, size);
	without = cost(plain, size);
	for (unsigned i = 0; i < sizeof with / sizeof *with; i++) {
		size_t now = cost(with[i].release, size);

		/* What leaves the fast path has one to pass the slab on. */
		if (now > without + with[i].most + (without > 60)) {
			rt_print("     %zu bytes: %zu instructions, with a size %zu (call %u)\n", size, without, now, i);
			CHECK(false);
		}
	}
	CHECK_EQ(cost(plain, size), without);
	for (unsigned i = 1; i < 8; i += 2)
		free(held[i]);
}

TEST(told_cost_of_a_size, 60)
{
	for (size_t size = 1; size <= (size_t)1 << 20; size = ash_good_size(size) + 1) {
		compare(size);
		compare(ash_good_size(size));
	}
	CHECK_EQ(ash_check(), 0);
}

static void allocate(void *blocks)
{
	for (unsigned i = 0; i < 40; i++)
		((void **)blocks)[i] = NOT_NULL(malloc(told));
}

/* What another thread allocated is not looked at for its size: one instruction passes the slab on. */
TEST(told_cost_of_another_threads_block, 60)
{
	static void *blocks[40];
	size_t without;

	for (told = 24; told <= 3000; told *= 5) {
		rt_in_thread(allocate, blocks);
		for (unsigned i = 0; i < 30; i++)
			free(blocks[i]);
		release = plain;
		block = blocks[30];
		without = steps_of(call);
		for (unsigned i = 0; i < 2; i++) {
			release = with[i].release;
			block = blocks[31 + i];
			CHECK(steps_of(call) <= without + 2);
		}
		for (unsigned i = 33; i < 40; i++)
			free(blocks[i]);
	}
	CHECK_EQ(ash_check(), 0);
}
