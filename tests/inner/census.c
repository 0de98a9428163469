/* SPDX-License-Identifier: MIT */
/* The census of a shared heap that is full of processes which are over. */
#include "shm/census.h"

#include "ashlar_heap.h"
#include "backend/map.h"
#include "front/slot.h"
#include "heaps/instance.h"
#include "life.h"
#include "rt.h"
#include "shm/seats.h"

enum { BIRTH = 22 };

static ash_heap *heap;
static struct store *store;

/* The i-th process that is over: of the same id, but each born at a time of its own. */
static uint64_t dead(size_t i)
{
	static uint64_t *life;
	long pid;

	if (life == NULL) {
		life = ash_heap_zalloc(heap, 1, 8);
		pid = rt_fork();
		if (pid == 0) {
			*life = life_of_process();
			rt_exit(0);
		}
		CHECK_EQ(rt_wait(pid), 0);
	}
	return LIFE_ID(*life) | (i + 1) << BIRTH;
}

static void census_fill(void)
{
	size_t i;

	heap = ash_heap_create_shared(16 * MIB, NULL);
	CHECK(heap != NULL);
	store = store_of(heap_of(heap));
	(void)dead(0); /* we have the first place */
	for (i = 1; i < CENSUS_LAST; i++)
		store->census[i] = dead(i);
}

static uint16_t *tag_of(void *p)
{
	struct slot_ref at;

	CHECK(slot_find(map_find(p), p, &at));
	return census_tag(at.slab, at.index);
}

/* A new process: what tag do its blocks get? */
static unsigned newcomer(void)
{
	long pid = rt_fork();
	void *p;

	if (pid == 0) {
		uint64_t full;
		size_t i;

		p = ash_heap_alloc(heap, 100);
		/* It was given its answer once, not with each block. */
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
	/* All at once, so that the next ones need no walk. */
	CHECK_EQ(places_free(), CENSUS_LAST - 2);
}

static int count_unknown(void *context, __attribute__((unused)) void *block,
			 __attribute__((unused)) size_t size, const struct ash_heap_owner *owner)
{
	((size_t *)context)[owner->id == TAG_UNKNOWN]++;
	CHECK(!owner->live || owner->id == 1);
	return 0;
}

/* Each left a block: newcomers are unknown, at no price, until some of the blocks go. */
TEST(inner_census_full, 30)
{
	static void *left[CENSUS_LAST];
	size_t i, counts[2] = {0, 0};
	unsigned n, unknown;

	census_fill();
	for (i = 1; i < CENSUS_LAST; i++) {
		left[i] = ash_heap_alloc(heap, 16);
		CHECK(left[i] != NULL);
		*tag_of(left[i]) = (uint16_t)(i + 1);
	}
	CHECK_EQ(newcomer(), 1);
	CHECK_EQ(places_free(), 0);
	/* Nobody is asked about twice. */
	for (i = 1; i < CENSUS_LAST; i++)
		CHECK(store->census[i] >> 63 == 1);
	(void)ash_heap_walk(heap, count_unknown, counts);
	CHECK_EQ(counts[1], 1);
	CHECK_EQ(ash_heap_release_owner(heap, TAG_UNKNOWN), 0);
	/* A block goes, and with it a name. */
	ash_heap_release(heap, left[77]);
	for (n = 0, unknown = 1; n < 20 && unknown == 1; n++)
		unknown = newcomer();
	CHECK_EQ(unknown, 2);
	CHECK_EQ(store->census[77] >> 63, 0);
	/* Or all blocks of a process. */
	CHECK_EQ(newcomer(), 1);
	CHECK_EQ(ash_heap_release_owner(heap, 1234), 1);
	CHECK_EQ(newcomer(), 2);
	CHECK_EQ(ash_heap_check(heap), 0);
}

/* Who comes asks about the one before: when it is full, most are known to be over. */
TEST(inner_census_asks_about_the_last, 30)
{
	size_t i, known = 0;

	heap = ash_heap_create_shared(16 * MIB, NULL);
	CHECK(heap != NULL);
	store = store_of(heap_of(heap));
	for (i = 0; i < 40; i++)
		CHECK_EQ(newcomer(), 2);
	for (i = 0; i < 40; i++)
		known += store->census[i] >> 63;
	CHECK(known >= 30);
}
