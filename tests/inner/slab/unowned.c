/* SPDX-License-Identifier: MIT */
/* Unowned slabs (unowned.h): empty ones are unmade. */
#include "inner/slab/unowned.h"
#include "slab/unowned.h"
#include "support/resident.h"
#include "syscall.h"

TEST(slabs_unowned_burst_in_a_small_heap, 20)
{
	const struct ash_heap_options small = {.cap = 16 * MIB};
	ash_heap *heap = ash_heap_create(&small), *fresh = ash_heap_create(&small);
	static const size_t sizes[] = {4096, CHUNK_SIZE, 16 * MIB, UNIT_SIZE};
	size_t i;

	ash_heap_release(heap, ash_heap_alloc(heap, 16));
	burst(heap, 1000, 12288);
	release_all(12288);
	CHECK_EQ(stats_of(heap).blocks, 0);
	CHECK(stats_of(heap).slabs <= 3 * UNIT_SIZE); /* without ash_trim */
	CHECK_EQ(ash_heap_check(heap), 0);
	fits_as(heap, fresh);
	(void)ash_heap_trim(heap, 0);
	CHECK_EQ(stats_of(heap).slabs, 0);
	/* The preferred slab of a class does not keep other classes from its memory. */
	for (i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
		ash_heap_release(heap, ash_heap_alloc(heap, 16));
		burst(heap, 1000, 1);
		ash_heap_release(heap, blocks[0]);
		ash_heap_thread_detach(heap);
		CHECK_EQ(stats_of(heap).slabs, UNIT_SIZE);
		CHECK_EQ(fit(heap, sizes[i]), fit(fresh, sizes[i]));
		(void)ash_heap_trim(heap, 0);
		(void)ash_heap_trim(fresh, 0);
	}
	ash_heap_destroy(heap);
	ash_heap_destroy(fresh);
}

/* When only unowned slabs have free slots, a thread with a record gets these before NULL. */
TEST(slabs_unowned_slots_before_null, 20)
{
	const struct ash_heap_options small = {.cap = 4 * MIB};
	ash_heap *heap = ash_heap_create(&small);
	size_t n = 0, i;
	char *p;

	ash_heap_release(heap, ash_heap_alloc(heap, 16));
	burst(heap, 200, 2000);
	while (ash_heap_alloc(heap, UNIT_SIZE) != NULL)
		;
	for (i = 0; i < 2000; i += 2) {
		memset(blocks[i], 0xa5, 200);
		ash_heap_release(heap, blocks[i]);
	}
	for (; (p = ash_heap_zalloc(heap, 1, 200)) != NULL; n++)
		for (i = 0; i < 200; i++)
			CHECK_EQ(p[i], 0);
	CHECK(n >= 1000);
	CHECK_EQ(ash_heap_check(heap), 0);
	ash_heap_destroy(heap);
}

TEST(slabs_unowned_slots_before_null_of_the_default_heap, 20)
{
	size_t n = 0, i;
	char *p;

	ash_release(ash_alloc(16));
	burst(NULL, 200, 2000);
	if (!rt_limit_address_space(4096))
		rt_skip("no limit of address space to be had under QEMU 7.2");
	while (ash_alloc(UNIT_SIZE) != NULL)
		;
	for (i = 0; i < 2000; i += 2) {
		memset(blocks[i], 0xa5, 200);
		ash_release(blocks[i]);
	}
	for (; (p = ash_zalloc(1, 200)) != NULL; n++)
		for (i = 0; i < 200; i++)
			CHECK_EQ(p[i], 0);
	CHECK(n >= 1000);
	CHECK_EQ(ash_check(), 0);
}

TEST(slabs_unowned_burst_is_not_resident, 20)
{
	size_t n = scaled(64000, 4000), before, after;

	ash_release(ash_alloc(1000));
	before = rt_anonymous();
	burst(NULL, 1000, n);
	for (size_t i = 0; i < n; i++)
		touch(blocks[i], 1000);
	release_all(n);
	ash_trim(0);
	after = rt_anonymous();
	CHECK_EQ(stats_now().blocks, 0);
	CHECK_EQ(stats_now().slabs, 0);
	CHECK(!figures() || after < before + 4 * MIB);
	CHECK_EQ(ash_check(), 0);
}

/* The function that is called for each block releases it, and so unmakes the slab that the walk is in. */
static int release_it(void *count, void *p, size_t size, UNUSED const struct ash_heap_owner *owner)
{
	CHECK_EQ(size, 64);
	ash_release(p);
	++*(size_t *)count;
	return 0;
}

TEST(slabs_unowned_walk_that_releases, 10)
{
	ash_heap *heap = ash_heap_create(NULL);
	size_t n = 0, all = UNIT_SIZE / 64 + 1; /* one in a slab of its own */

	ash_heap_release(heap, ash_heap_alloc(heap, 16));
	burst(heap, 64, all);
	CHECK_EQ(ash_heap_walk(heap, release_it, &n), 0);
	CHECK_EQ(n, all);
	CHECK_EQ(stats_of(heap).blocks, 0);
	CHECK_EQ(stats_of(heap).slabs, 2 * UNIT_SIZE); /* the thread's, and the preferred one */
	ash_heap_destroy(heap);
}

/* The slab that is searched first stays although it is empty, until another one of its class is. */
TEST(slabs_unowned_empty_goes_when_another_is_searched_first, 10)
{
	enum { SIZE = 3000 };
	struct slab *full, *empty;
	size_t i, n = 1;

	burst(NULL, SIZE, 1);
	full = place_of(blocks[0]).slab;
	(void)seat_take();
	do
		CHECK((blocks[n] = ash_alloc(SIZE)) != NULL);
	while (place_of(blocks[n++]).slab == full);
	seat_open();
	empty = place_of(blocks[n - 1]).slab;
	ash_release(blocks[n - 1]);
	CHECK_EQ(empty->owner, OWNER_UNOWNED);
	ash_release(blocks[0]);
	CHECK_EQ(empty->owner, 0);
	for (i = 1; i + 1 < n; i++)
		ash_release(blocks[i]);
	CHECK_EQ(full->owner, OWNER_UNOWNED);
	CHECK_EQ(ash_check(), 0);
}

/* All groups of a slab are used before the next one is made. */
TEST(slabs_unowned_all_slots_are_used, 10)
{
	struct slab *s;
	size_t i;

	burst(NULL, 200, 1);
	s = place_of(blocks[0]).slab;
	CHECK(s->groups > 1);
	(void)seat_take();
	for (i = 1; i < s->slots; i++)
		CHECK(place_of(blocks[i] = ash_alloc(200)).slab == s);
	CHECK(place_of(blocks[i] = ash_alloc(200)).slab != s);
	seat_open();
	while (i-- > 0)
		ash_release(blocks[i]);
}

/* Before NULL the search begins again at the first chunk, wherever the last one ended. */
TEST(slabs_unowned_rest_begins_anew, 10)
{
	unsigned class = class_of(3000);
	struct slot_ref at;
	void *p;

	burst(NULL, 3000, 2);
	at = place_of(blocks[0]);
	ash_release(blocks[0]);
	heap_default.unowned[class] = NULL;
	heap_default.unowned_next[class] = at.slab->chunk->index + 1;
	p = unowned_rest(&heap_default, class);
	CHECK(p != NULL && place_of(p).slab == at.slab);
	ash_release(p);
	ash_release(blocks[1]);
}
