/* SPDX-License-Identifier: MIT */
/*
 * Records that were reserved in a shared heap and never entered in its list, as their maker died: the search for
 * lost memory (store/recover/recover.h) enters them, and leaves those of the list alone.
 */
#include "store/recover/recover.h"

#include "ashlar_heap.h"
#include "heaps/instance.h"
#include "memory.h"
#include "rt.h"
#include "store/recover/building.h"
#include "store/recover/census.h"
#include "store/recover/seats.h"

static ash_heap *heap;
static struct heap *h;
static struct store *store;

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

/* The search, as after a death. */
static void search(void)
{
	store->lost = 1;
	lost_memory_return(store);
	CHECK_EQ(store->lost, 0);
}

TEST(inner_lost_records_are_entered, 10)
{
	struct owner *mine, *lost;
	struct building b;
	struct slab *current;
	unsigned all;
	void *p, *q;

	heap = NOT_NULL(ash_heap_create_shared(16 * MIB, NULL));
	h = heap_of(heap);
	store = store_of(h);
	if (lives_thread(h) == 0)
		rt_skip("the thread's life cannot be told");
	p = ash_heap_alloc(heap, 100);
	mine = seats_self(h);
	current = mine->bins[class_of(100)].slab;
	CHECK(p != NULL && current != NULL && store->records_used == 1);
	/* Nothing to do: no record is looked at. */
	search();
	CHECK(entries(mine, &all) == 1 && all == 1);
	/* Its maker came as far as this. */
	lost = (struct owner *)(void *)(store->records + RECORD_BYTES);
	memset(lost, 0x11, sizeof lost->bins);
	lost->inbox[3] = 0x70;
	store->records_used = 2;
	/* Not while a thread builds: it may be that one. */
	b = building_begin(h, NULL);
	store->lost = 1;
	lost_memory_return(store);
	CHECK(entries(lost, &all) == 0 && all == 1 && store->lost == 1);
	building_end(b);
	search();
	CHECK(entries(lost, &all) == 1 && all == 2);
	CHECK(entries(mine, &all) == 1);
	CHECK(lost->state == OWNER_VACANT && lost->inbox[3] == 0 && lost->bins[class_of(100)].slab == NULL);
	CHECK(mine->state != OWNER_VACANT && mine->bins[class_of(100)].slab == current);
	search();
	CHECK(entries(mine, &all) == 1 && all == 2);
	q = ash_heap_alloc(heap, 100);
	CHECK(q != NULL && q != p);
	CHECK_EQ(ash_heap_check(heap), 0);
}
