/* SPDX-License-Identifier: MIT */
/* Pointers to the allocator's own records, and damage that only its insides can show. */
#include "backend/region.h"
#include "support/blocks.h"
#include "support/misuse.h"
#include "thread/seat.h"

/* The chunk, and the slab, of a block. */
static struct slab *slab_of(void *p)
{
	struct slab *s;

	CHECK(slab_find(map_find(p), p, &s));
	return s;
}

/* A record that is there from the start, when there are others, too. */
static void bad_record(struct bad *bad, const void *p)
{
	CHECK(ash_alloc(1) != NULL);
	bad_alone(bad, (void *)(uintptr_t)p, RECORDS);
}

MISUSE_CALL(heap_record, bad_record(bad, &heap_default));
MISUSE_CALL(heap_record_end, bad_record(bad, (char *)(&heap_default + 1) - 8));
MISUSE_CALL(map_root, bad_record(bad, &chunk_map.root[MAP_SIZE - 1]));
MISUSE_CALL(map_units, bad_record(bad, &chunk_map.units[MAP_UNITS - 1]));

/* Behind them lie other objects: no record, unless it is another heap's. */
TEST(find_ends_of_records, 10)
{
	struct ash_block b;
	char *heap = (char *)&heap_default, *map = (char *)&chunk_map, *end;

	CHECK(ash_alloc(1) != NULL);
	CHECK(ash_find(heap, &b) == ASH_RECORDS && ash_find(heap + sizeof heap_default - 1, &b) == ASH_RECORDS);
	end = heap + sizeof heap_default;
	CHECK(map_holds(end) || owner_contains(&heap_default, end) || region_metadata_holds(&heap_default, end) ||
	      ash_find(end, &b) == ASH_FOREIGN);
	CHECK(map_holds(map) && map_holds(map + sizeof chunk_map - 1) && !map_holds(map + sizeof chunk_map));
}

MISUSE(region_record)
{
	CHECK(ash_alloc(1) != NULL);
	bad_alone(bad, heap_default.regions, RECORDS);
}

/* A region with metadata of its own, not the static one of the first. */
MISUSE(region_record_of_span)
{
	char *p = ash_alloc((size_t)50 << 20);

	bad_alone(bad, map_find(p)->region, RECORDS);
	CHECK(map_find(p)->region->next != NULL || heap_default.regions->next == NULL);
}

MISUSE_CALL(chunk_record, bad_alone(bad, map_find(ash_alloc(1)), RECORDS));
MISUSE_CALL(slab_record, bad_alone(bad, slab_of(ash_alloc(100)), RECORDS));
MISUSE_CALL(slab_free_words, bad_alone(bad, slab_of(ash_alloc(100))->free, RECORDS));
MISUSE_CALL(slab_remote_words, bad_alone(bad, slab_of(ash_alloc(100))->remote, RECORDS));

MISUSE(owner_record)
{
	CHECK(ash_alloc(1) != NULL);
	bad_alone(bad, heap_default.owners, RECORDS);
}

MISUSE(owner_record_end)
{
	CHECK(ash_alloc(1) != NULL);
	bad_alone(bad, (char *)(heap_default.owners + 1) - 8, RECORDS);
}

USE(allocate, p, *(void **)p = ash_alloc(100));

/* The record of a thread that ended stays, and is known. */
MISUSE(owner_record_of_thread)
{
	void *p = ash_alloc(100);
	rt_in_thread(allocate, &p);
	CHECK(p != NULL && heap_default.owners->next != NULL);
	bad_alone(bad, heap_default.owners, RECORDS);
}

/* ---- a shared slab, from which handlers get slots ---- */

/* As if this call had interrupted another one of the thread. */
static char *shared_block(size_t size)
{
	char *p;

	CHECK(ash_alloc(1) != NULL); /* so that there is a seat */
	seat.open = 0;
	p = ash_alloc(size);
	seat.open = SEAT_OPEN;
	CHECK(p != NULL && load_relaxed(&slab_of(p)->owner) == OWNER_UNOWNED);
	return p;
}

MISUSE(released_shared)
{
	char *p = shared_block(100);

	ash_release(p);
	bad_in(bad, p, 0, bad->gone, 112);
}

MISUSE_CALL(interior_shared, bad_in(bad, shared_block(100), 16, "interior pointer", 112));

/* ---- both bits of a slot set: a second release that raced with the first ---- */

static struct slab *damaged;

/* As if another thread had released the block at the same time, and not told yet. */
static void release_with_another(char *p)
{
	uint64_t index;

	damaged = slab_of(p);
	CHECK(slab_index(damaged, p, &index));
	ash_release(p);
	fetch_or_seq_cst(&damaged->remote[index / 64], (uint64_t)1 << index % 64);
}

USE(collect, p, ash_trim(SIZE_MAX));

TEST(misuse_found_when_collected, 10)
{
	char *lower = ash_alloc(100), *p = block_among(100);
	struct bad bad;

	ash_release(lower); /* a slot that is rightly free, in the same group */
	release_with_another(p);
	CHECK_EQ(ash_check(), 6); /* I6: free and remote are disjoint */
	fetch_or_seq_cst(&damaged->owner, OWNER_PENDING);
	bad_in(&bad, p, 0, "double free", 112);
	misuse_expect("release", collect, &bad);
	/* Without the mark, it is found when everything is collected. */
	fetch_and_seq_cst(&damaged->owner, ~OWNER_PENDING);
	misuse_expect("release", collect, &bad);
}

/* The same in a slab that is on a list. */
TEST(misuse_found_when_a_slab_on_a_list_is_collected, 10)
{
	char *p = block_among(100), *q;
	struct bad bad;

	do
		CHECK((q = ash_alloc(100)) != NULL);
	while (slab_of(q) == slab_of(p));
	release_with_another(p);
	bad_in(&bad, p, 0, "double free", 112);
	misuse_expect("release", collect, &bad);
}

USE(detach, p, ash_thread_detach());

/* The slab goes back: the last moment to see it. */
TEST(misuse_found_when_slab_goes, 10)
{
	struct bad bad;
	char *p = ash_alloc(100);

	release_with_another(p);
	bad_in(&bad, p, 0, "double free", 112);
	misuse_expect("release", detach, &bad);
}

/* In a group that is not the first. */
TEST(misuse_found_in_each_group_when_slab_goes, 10)
{
	char *p[2 * GROUP_SLOTS + 1];
	struct bad bad;
	size_t i, n = sizeof p / sizeof *p - 1;

	for (i = 0; i <= n; i++)
		CHECK((p[i] = ash_alloc(100)) != NULL && slab_of(p[i]) == slab_of(p[0]));
	release_each(p, n);
	release_with_another(p[n]);
	bad_in(&bad, p[n], 0, "double free", 112);
	misuse_expect("release", detach, &bad);
}

USE(make_unowned, p, (void)shared_block(3000));

/* A second release that comes when the unowned slab is gone: told when the next one is made there, or searched. */
static void unowned_slab_is_gone(bool hint)
{
	char *p = shared_block(3000);
	struct bad bad;

	damaged = slab_of(p);
	ash_release(p);
	ash_trim(0);
	CHECK_EQ(damaged->owner, 0);
	fetch_or_seq_cst(&damaged->free[0], 1);
	if (hint) /* an old one, which leads there */
		heap_default.unowned[damaged->class] = damaged;
	bad_in(&bad, p, 0, "double free", 3072);
	misuse_expect("release", make_unowned, &bad);
}

TEST_CALL(misuse_found_when_an_unowned_slab_is_made, 10, unowned_slab_is_gone(false));
TEST_CALL(misuse_found_when_an_unowned_slab_is_searched, 10, unowned_slab_is_gone(true));
