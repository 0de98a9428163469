/* SPDX-License-Identifier: MIT */
/* The census of a shared heap, full of processes that have ended, and the owners that it tells. */
/* promises: ash_heap_release_owner */
#include "store/recover/census.h"

#include "front/slot.h"
#include "store/recover/block_tags.h"
#include "syscall.h"

#include "store/inner/shared.h" /* last: its names are short */

enum { BIRTH = 22 };

/* The life of the i-th ended process: all have the same id, and different times of birth. */
static uint64_t dead(size_t i)
{
	static uint64_t *life;

	if (life == NULL) {
		life = ash_heap_zalloc(heap, 1, 8);
		IN_CHILD
			*life = life_of_process();
	}
	return LIFE_ID(*life) | (i + 1) << BIRTH;
}

static void census_fill(void)
{
	size_t i;

	shared_make(16 * MIB);
	(void)dead(0); /* this process has the first entry */
	for (i = 1; i < CENSUS_LAST; i++)
		store->census[i] = dead(i);
}

static uint16_t *tag_of(void *p)
{
	struct slot_ref at;

	CHECK(slot_find(map_find(p), p, &at));
	return census_tag(at.slab, at.index);
}

/*
 * Forks a process that allocates.  1: its blocks are tagged TAG_UNKNOWN; 2: they have a tag of
 * their own.
 */
static unsigned newcomer(void)
{
	long pid = rt_fork();
	void *p;

	if (pid == 0) {
		uint64_t full;
		size_t i;

		p = ash_heap_alloc(heap, 100);
		/* The tag is determined once, not for each block. */
		full = store->full;
		for (i = 0; i < 100; i++)
			ash_heap_release(heap, ash_heap_alloc(heap, 2 * MIB));
		CHECK_EQ(store->full, full);
		rt_exit(*tag_of(p) == TAG_UNKNOWN ? 1 : 2);
	}
	return (unsigned)rt_wait(pid);
}

static size_t places_free(void)
{
	size_t i, n = 0;

	for (i = 0; i < CENSUS_LAST; i++)
		n += store->census[i] == 0;
	return n;
}

TEST(inner_census_reused, 30)
{
	census_fill();
	CHECK_EQ(newcomer(), 2);
	/* All entries were freed at once, so that the next processes need no walk. */
	CHECK_EQ(places_free(), CENSUS_LAST - 2);
}

/* A process that asks again is told what it was told before. */
TEST(inner_census_joins_once, 10)
{
	shared_make(16 * MIB);
	CHECK(census_join(store) == 1 && census_join(store) == 1);
	IN_CHILD
		CHECK(census_join(store) == 2 && census_join(store) == 2);
	CHECK_EQ(census_join(store), 1);
	CHECK_EQ(store->census[2], 0);
}

static int count_unknown(void *context, UNUSED void *block,
			 UNUSED size_t size, const struct ash_heap_owner *owner)
{
	((size_t *)context)[owner->id == TAG_UNKNOWN]++;
	CHECK(!owner->live || owner->id == 1);
	return 0;
}

/* Each ended process left a block: new processes get TAG_UNKNOWN until some blocks are released. */
TEST(inner_census_full, 30)
{
	static void *left[CENSUS_LAST];
	size_t i, counts[2] = {0, 0};
	unsigned n, unknown;

	census_fill();
	for (i = 1; i < CENSUS_LAST; i++) {
		left[i] = NOT_NULL(ash_heap_alloc(heap, 16));
		*tag_of(left[i]) = (uint16_t)(i + 1);
	}
	CHECK_EQ(newcomer(), 1);
	CHECK_EQ(places_free(), 0);
	/* The kernel is asked about each process once. */
	for (i = 1; i < CENSUS_LAST; i++)
		CHECK(store->census[i] >> 63 == 1);
	(void)ash_heap_walk(heap, count_unknown, counts);
	CHECK_EQ(counts[1], 1);
	CHECK_EQ(ash_heap_release_owner(heap, TAG_UNKNOWN), 0);
	/* When the only block of a process is released, its tag is free. */
	ash_heap_release(heap, left[77]);
	for (n = 0, unknown = 1; n < 20 && unknown == 1; n++)
		unknown = newcomer();
	CHECK_EQ(unknown, 2);
	CHECK_EQ(store->census[77] >> 63, 0);
	/* The same by ash_heap_release_owner. */
	CHECK_EQ(newcomer(), 1);
	CHECK_EQ(ash_heap_release_owner(heap, 1234), 1);
	CHECK_EQ(store->census[1233], 0);
	CHECK_EQ(newcomer(), 2);
	CHECK_EQ(ash_heap_check(heap), 0);
}

/* A killed process still has its record, which refers to its tag: the tag is not reused. */
TEST(inner_census_keeps_what_a_record_names, 30)
{
	uint64_t place;
	struct owner *o;
	long pid;

	shared_make(16 * MIB);
	(void)dead(0);
	pid = rt_fork();
	if (pid == 0) {
		ash_heap_release(heap, ash_heap_alloc(heap, 100));
		arch_kill(arch_getpid(), 9);
	}
	CHECK_EQ(rt_wait(pid), 1009);
	for (o = heap_of(heap)->owners; o != NULL && truth_of(o)->census < 2; o = o->next)
		;
	CHECK(o != NULL && o->state != OWNER_VACANT);
	place = truth_of(o)->census - 1;
	for (size_t i = 0; i < CENSUS_LAST; i++)
		if (store->census[i] == 0)
			store->census[i] = dead(i);
	CHECK_EQ(newcomer(), 2);
	CHECK(store->census[place] != 0);
	CHECK(LIFE_ID(store->census[place]) == (uint64_t)pid);
}

/* A process in another namespace gets no entry, as its life cannot be judged, and TAG_UNKNOWN. */
TEST(inner_census_of_a_process_elsewhere, 10)
{
	size_t i, before;

	shared_make(16 * MIB);
	if (store->world >> 32 == 0)
		rt_skip("namespaces cannot be told apart without /proc");
	before = places_free();
	store->world ^= (uint64_t)1 << 32;
	for (i = 0; i < 3; i++)
		CHECK_EQ(census_join(store), TAG_UNKNOWN);
	CHECK_EQ(*tag_of(ash_heap_alloc(heap, 100)), TAG_UNKNOWN);
	CHECK_EQ(places_free(), before);
}

static const struct ash_heap_owner *expected;
static size_t found;

static int see_owner(UNUSED void *context, void *block,
		     UNUSED size_t size, const struct ash_heap_owner *owner)
{
	if (block == context) {
		CHECK_EQ(owner->id, expected->id);
		CHECK_EQ(owner->live, expected->live);
		CHECK_EQ(owner->pid, expected->pid);
		found++;
	}
	return 0;
}

/* Checks the owner that a walk reports for the block. */
static void owner_is(void *block, uint64_t id, int pid, bool live)
{
	struct ash_heap_owner owner = {id, pid, live, 0};

	expected = &owner;
	found = 0;
	(void)ash_heap_walk(heap, see_owner, block);
	CHECK_EQ(found, 1);
}

/*
 * Owners that a walk reports: a live process with a high tag, a dead one, and a tag without an
 * entry.
 */
TEST(inner_census_owners_of_blocks, 30)
{
	enum { HIGH = CENSUS_LAST, BESIDE = HIGH - 64, NONE = HIGH - 128 };
	uint64_t life;
	void *p[4];
	size_t i;

	shared_make(16 * MIB);
	for (i = 0; i < 4; i++)
		p[i] = ash_heap_alloc(heap, 100);
	CHECK(p[0] < p[1] && p[1] < p[2] && p[2] < p[3]);
	life = store->census[*tag_of(p[0]) - 1];
	store->census[HIGH - 1] = life;
	store->census[BESIDE - 1] = dead(BESIDE);
	*tag_of(p[1]) = HIGH;
	*tag_of(p[2]) = BESIDE;
	*tag_of(p[3]) = NONE;
	owner_is(p[0], *tag_of(p[0]), (int)LIFE_ID(life), true);
	owner_is(p[1], HIGH, (int)LIFE_ID(life), true);
	owner_is(p[2], BESIDE, (int)LIFE_ID(dead(0)), false);
	owner_is(p[3], NONE, 0, false);
	/*
	 * The walk caches answers by tag modulo 64: a live process with the same remainder changes
	 * nothing.
	 */
	*tag_of(p[2]) = HIGH;
	owner_is(p[3], NONE, 0, false);
}

/*
 * A process that joins asks about the one before it: most deaths are known before the census is
 * full.
 */
TEST(inner_census_asks_about_the_last, 30)
{
	size_t i, known = 0;

	shared_make(16 * MIB);
	for (i = 0; i < 40; i++)
		CHECK_EQ(newcomer(), 2);
	for (i = 0; i < 40; i++)
		known += store->census[i] >> 63;
	CHECK(known >= 30);
}
