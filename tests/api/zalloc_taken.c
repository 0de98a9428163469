/* SPDX-License-Identifier: MIT */
/* Zeroed blocks from slabs that were another thread's: adopted, or taken over after a fork. */
/* promises: ash_zalloc */
#include "support/another.h"
#include "support/blocks.h"
#include "support/pattern.h"

enum { BLOCKS = 3000 };

static const size_t sizes[] = {8, 48, 300, 1000, 5000};
enum { SIZES = sizeof(sizes) / sizeof(sizes[0]) };
static char *blocks[SIZES][BLOCKS];

static void dirty_all(void)
{
	size_t s, i;

	for (s = 0; s < SIZES; s++)
		for (i = 0; i < BLOCKS; i++) {
			blocks[s][i] = NOT_NULL(ash_alloc(sizes[s]));
			fill(blocks[s][i], sizes[s], (unsigned)s);
		}
}

/* Every second one goes, so that the slabs stay, half empty. */
static void release_half(void)
{
	size_t s, i;

	for (s = 0; s < SIZES; s++)
		for (i = 0; i < BLOCKS; i += 2)
			ash_release(blocks[s][i]);
}

/* As many zeroed ones as were released: they come from the same slabs. */
static void zeroed_all(void)
{
	struct ash_statistics before;
	size_t s, i;

	ash_stats(&before);
	for (s = 0; s < SIZES; s++)
		for (i = 0; i < BLOCKS; i += 2) {
			char *p = NOT_NULL(ash_zalloc(1, sizes[s]));

			is_zero(p, sizes[s]);
			memset(p, 0xff, sizes[s]);
		}
	CHECK(stats_now().slabs <= before.slabs + ((size_t)1 << 20));
	for (s = 0; s < SIZES; s++)
		for (i = 1; i < BLOCKS; i += 2)
			holds(blocks[s][i], sizes[s], (unsigned)s);
	CHECK_EQ(ash_check(), 0);
}

static void dirties(void)
{
	dirty_all();
	release_half();
}

static void dirties_and_ends(UNUSED void *argument)
{
	dirties();
}

TEST(zalloc_from_adopted_slabs, 30)
{
	ash_release(ash_alloc(1));
	rt_in_thread(dirties_and_ends, NULL);
	zeroed_all();
}

static void dirties_for_others(UNUSED void *argument)
{
	dirty_all();
}

/* The thread has ended; its blocks are released from outside, and its slabs then adopted. */
TEST(zalloc_from_adopted_slabs_with_mail, 30)
{
	ash_release(ash_alloc(1));
	rt_in_thread(dirties_for_others, NULL);
	release_half();
	zeroed_all();
}

TEST(zalloc_from_slabs_of_a_vanished_thread, 30)
{
	ash_release(ash_alloc(1));
	another_stays(dirties);
	IN_CHILD
		zeroed_all();
	another_goes();
}
