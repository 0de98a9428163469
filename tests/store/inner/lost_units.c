/* SPDX-License-Identifier: MIT */
/*
 * The search for lost memory: which units of a chunk it finds, how it counts them again, and which records it enters.
 */
#include "store/recover/recover.h"
#include "diagnostics/blocks.h"
#include "front/slot.h"
#include "memory.h"
#include "slab/unowned.h"
#include "store/recover/builders.h"
#include "store/recover/census.h"
#include "store/recover/holds.h"

#include "store/inner/shared.h" /* last: its names are short */

static struct chunk *chunk;

/* A chunk with slabs of 1 and of more units, an unowned one, and free units between, in front and behind. */
static void set_up(void)
{
	static const size_t sizes[] = {9000, 100000, 20000, 300000, 9000, 60000, 5000, 200000};
	void *p[sizeof sizes / sizeof sizes[0]];
	struct building b;
	struct slot_ref at;
	void *unowned;
	size_t i;

	shared_make(16 * MIB);
	for (i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
		CHECK((p[i] = ash_heap_alloc(heap, sizes[i])) != NULL);
	b = building_begin(h, NULL);
	unowned = unowned_slot(h, class_of(100));
	CHECK(unowned != NULL && slot_find(map_find(unowned), unowned, &at));
	*census_tag(at.slab, at.index) = 1; /* it was handed out */
	building_end(b);
	chunk = map_find(p[0]);
	for (i = 0; i < sizeof sizes / sizeof sizes[0]; i += 2)
		ash_heap_release(heap, p[i]);
	(void)ash_heap_trim(heap, SIZE_MAX);
	CHECK((chunk->units & 1) != 0 && chunk->units != ~(uint64_t)0);
}

static uint64_t counted(void)
{
	struct ash_statistics st;

	heap_stats(h, &st);
	return (st.dirty >> UNIT_SHIFT) + ((st.slabs + st.spans) >> UNIT_SHIFT) * HEAP_USED;
}

/* As after a death. */
static void search(void)
{
	store->deaths++;
	lost_memory_return(store, seats_self(h));
	CHECK_EQ(store_lost(store), 0);
	CHECK_EQ(h->both, counted());
	CHECK_EQ(ash_heap_check(heap), 0);
}

TEST(inner_lost_unit_wherever_it_is, 10)
{
	uint64_t units, left;

	set_up();
	units = chunk->units;
	for (left = units; left != 0; left = bits_without_lowest(left)) {
		chunk->units = units & ~(left & -left); /* one, */
		search();
		CHECK_EQ(chunk->units, units);
		chunk->units = units & ~left; /* and all from there on */
		search();
		CHECK_EQ(chunk->units, units);
	}
}

/* A slab that is half made or unmade has its last units, but not the first one (slab_publish). */
TEST(inner_lost_slab_half_made, 10)
{
	unsigned first, parts;
	uint64_t units;

	set_up();
	units = chunk->units;
	for (parts = 0; parts < 10; parts++) {
		IN_CHILD {
			char *p = ash_heap_alloc(heap, 300000);
			unsigned i;

			CHECK(map_find(p) == chunk);
			first = (unsigned)((p - chunk->base) >> UNIT_SHIFT);
			CHECK(chunk->head[first + 9] == record_offset(first));
			(void)building_begin(h, seats_self(h));
			for (i = 0; i <= parts; i++)
				chunk->head[first + i] = 0;
		}
		CHECK(chunk->units != units);
		CHECK_EQ(ash_heap_recover(heap), 1);
		CHECK_EQ(chunk->units, units);
		CHECK_EQ(h->both, counted());
		CHECK_EQ(ash_heap_check(heap), 0);
	}
}

/* What is counted wrong is counted again: units of slabs and spans, dirty ones, free dirty chunks. */
TEST(inner_lost_counts_again, 10)
{
	static const uint64_t wrong[] = {1, HEAP_USED, 5 + 7 * HEAP_USED, 0 - HEAP_USED};
	void *span, *other;
	size_t i;

	set_up();
	span = ash_heap_alloc(heap, 3 * MIB);
	other = ash_heap_alloc(heap, 2 * MIB);
	CHECK(span != NULL && other != NULL);
	__builtin_memset(other, 1, 2 * MIB);
	ash_heap_release(heap, other);
	CHECK(region_dirty((struct run){h->regions, 0}, h->regions->chunks) > 0);
	CHECK_EQ(h->both, counted());
	for (i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
		h->both += wrong[i];
		search();
	}
}

/* ---- records that were never entered in the list, as their maker died: the search does it, and leaves others alone ---- */

/* How often the record is in the list, and how many are. */
static unsigned entries(const struct owner *record, unsigned *all)
{
	const struct owner *o;
	unsigned n = 0;

	for (*all = 0, o = h->owners; o != NULL && *all < STORE_RECORDS; o = o->next) {
		n += o == record;
		++*all;
	}
	return n;
}

TEST(inner_lost_records_are_entered, 10)
{
	struct owner *mine, *lost;
	struct building b;
	uintptr_t current;
	unsigned all;
	void *p, *q;

	shared_make(16 * MIB);
	if (lives_thread(h) == 0)
		rt_skip("the thread's life cannot be told");
	p = ash_heap_alloc(heap, 100);
	mine = seats_self(h);
	current = mine->bins[class_of(100)].slab;
	CHECK(p != NULL && current != 0 && store->records_used == 1);
	/* Nothing to do: no record is looked at. */
	search();
	CHECK(entries(mine, &all) == 1 && all == 1);
	/* Its maker came as far as this. */
	lost = (struct owner *)(void *)(store->records + RECORD_BYTES);
	memset(lost, 0x11, sizeof lost->bins);
	lost->inbox[3] = 0x70;
	store->records_used = 2;
	/* Not while a thread makes it. */
	b = building_begin(h, NULL);
	holds_note(h, hold_record(1), true);
	store->deaths++;
	lost_memory_return(store, seats_self(h));
	CHECK(entries(lost, &all) == 0 && all == 1 && store_lost(store) == 1);
	building_end(b);
	search();
	CHECK(entries(lost, &all) == 1 && all == 2);
	CHECK(entries(mine, &all) == 1);
	CHECK(lost->state == OWNER_VACANT && lost->inbox[3] == 0 && lost->bins[class_of(100)].slab == 0);
	CHECK(mine->state != OWNER_VACANT && mine->bins[class_of(100)].slab == current);
	search();
	CHECK(entries(mine, &all) == 1 && all == 2);
	q = ash_heap_alloc(heap, 100);
	CHECK(q != NULL && q != p);
	CHECK_EQ(ash_heap_check(heap), 0);
}
