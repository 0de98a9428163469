/* SPDX-License-Identifier: MIT */
/*
 * A full census of a shared heap, whose entries of ended processes two processes free at the same time: the entry
 * of one that has joined in between is its own.
 */
#include "store/recover/census.h"

#include "store/recover/block_tags.h"
#include "support/wrap.h"

#include "store/inner/shared.h" /* last: its names are short */

enum { BIRTH = 22 };

static struct told {
	_Atomic uint64_t ended, life, tag; /* of one that has ended; of the newcomer */
} *told;

static uint64_t last; /* the life of the entry that is asked about last */
static void (*asked)(void);
WRAP(bool, life_process_is_over, (uint64_t life))
{
	void (*now)(void) = asked;

	if (life == last && now != NULL) {
		asked = NULL;
		now();
	}
	return __real_life_process_is_over(life);
}

/* Joins and lives on. */
static void newcomer(void)
{
	rt_end_with_parent();
	told->life = life_of_process();
	told->tag = census_join(store);
	for (;;)
		rt_sleep(1000000);
}

/* All deaths but one have been found: another process finds that one, too, and frees all; a third one joins. */
static void others_come(void)
{
	store->full = 0; /* or 15 others would have to join first */
	CHECK_EQ(rt_wait(CHILD(CHECK(census_join(store) != TAG_UNKNOWN))), 0);
	if (rt_fork() == 0)
		newcomer();
	while (told->tag == TAG_NONE)
		rt_yield();
}

TEST(census_entry_of_a_newcomer, 30)
{
	size_t i;

	shared_make(16 * MIB);
	needs_lives();
	told = rt_map_shared(sizeof *told);
	IN_CHILD
		told->ended = life_of_process();
	CHECK_EQ(census_join(store), 1);
	for (i = 1; i < CENSUS_LAST; i++)
		store->census[i] = LIFE_ID(told->ended) | (i + 1) << BIRTH | CENSUS_OVER;
	last = store->census[CENSUS_LAST - 1] &= ~CENSUS_OVER;
	IN_CHILD {
		asked = others_come;
		CHECK(census_join(store) != told->tag && asked == NULL);
		CHECK(told->tag > 1 && told->tag <= CENSUS_LAST);
		CHECK_EQ(store->census[told->tag - 1], told->life);
	}
}
