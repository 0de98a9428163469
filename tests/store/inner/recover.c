/* SPDX-License-Identifier: MIT */
/* Recovery (store/recover/recover.h) follows no list of the dead: their records are rebuilt from the slabs' own words. */
#include "store/recover/recover.h"

#include "front/slot.h"
#include "kernel.h"
#include "store/recover/builders.h"
#include "store/recover/intent.h"
#include "slab/unowned.h"
#include "support/blocks.h"
#include "syscall.h"

#include "store/inner/shared.h" /* last: its names are short */

enum { CHUNKS = 8 };

static void open_heap(void)
{
	shared_make((CHUNKS + 256) * 2 * MIB);
	needs_lives();
	while (map_find(ash_heap_alloc(heap, 4000))->index < CHUNKS - 2)
		;
}

/* How a process dies whose calls on blocks and units have all ended, or have not yet begun. */
DOES(holds_blocks, CHECK(ash_heap_alloc(heap, 100) != NULL && ash_heap_alloc(heap, 3000) != NULL));

static void in_flight(void)
{
	/* Of a slab that gets its first free slot by it. */
	void *p[64];
	unsigned i;

	for (i = 0; i < 64; i++)
		p[i] = ash_heap_alloc(heap, 9000);
	ash_heap_set_root(heap, p[0]);
	store_release(&truth_of(seats_self(heap_of(heap)))->flight, (uint64_t)(uintptr_t)p[0]);
}

DOES(has_drafts, CHECK(ash_heap_draft(heap, 100) != NULL && ash_heap_draft(heap, 40000) != NULL));

/* The dying process leaves in its record, from the inbox to the spares of large slabs, this word only. */
static void scribble(uint64_t word)
{
	struct owner *o = seats_self(heap_of(heap));
	size_t at;

	for (at = offsetof(struct owner, inbox); at < sizeof *o; at += sizeof word)
		memcpy((char *)o + at, &word, sizeof word);
	o->turn = (uint32_t)word;
	o->spare_next = o->spare_units = (uint8_t)word;
}

static void dies(void (*how)(void), unsigned left, uint64_t word)
{
	size_t before = stats_of(heap).blocks;

	IN_KILLED_CHILD {
		how();
		if (word != 0)
			scribble(word);
	}
	CHECK_EQ(ash_heap_recover(heap), 1);
	CHECK_EQ(stats_of(heap).blocks, before + left);
	CHECK_EQ(ash_heap_check(heap), 0);
}

TEST(recover_follows_no_list_of_the_dead, 20)
{
	uint64_t words[] = {0, 1, 0x800, ~(uint64_t)0, (uintptr_t)words, (uint64_t)1 << 63}; /* an address of our own, too */
	struct slot_ref at;
	size_t i;

	open_heap();
	for (i = 0; i < sizeof words / sizeof words[0]; i++) {
		dies(holds_blocks, 2, words[i]);
		dies(in_flight, 63, words[i]);
		/* Its slab was full, and is found by the next allocation from the record. */
		CHECK(slot_find(map_find(ash_heap_root(heap)), ash_heap_root(heap), &at));
		CHECK(!slot_is_taken(&at) && slab_is_ready(at.slab));
		dies(has_drafts, 0, words[i]);
	}
}

/* A process dies behind the release of p, which is over: that p is no slot any more, or is one that is free. */
static void dies_behind_release(void *p)
{
	IN_KILLED_CHILD {
		ash_heap_release(heap, ash_heap_alloc(heap, 16));
		store_release(&truth_of(seats_self(heap_of(heap)))->flight, (uint64_t)(uintptr_t)p);
	}
	CHECK_EQ(ash_heap_recover(heap), 1);
	CHECK_EQ(ash_heap_check(heap), 0);
}

TEST(recover_leaves_what_has_landed, 20)
{
	struct slot_ref at;
	char *p, *span;

	open_heap();
	p = ash_heap_alloc(heap, 9000);
	span = ash_heap_alloc(heap, 3 * MIB);
	CHECK(p != NULL && span != NULL && slot_find(map_find(p), p, &at));
	ash_heap_release(heap, p);
	dies_behind_release(p);
	CHECK(!slot_is_taken(&at) && (at.slab->remote[at.group] & at.bit) == 0);
	dies_behind_release(span);
	CHECK_EQ(ash_heap_usable_size(heap, span), 3 * MIB);
	ash_heap_release(heap, span);
	dies_behind_release(span);
}

/*
 * A file may say that a slot of an unowned slab was being released as another owner's slot is; no thread writes
 * that.  No remote bit is set there, which no thread would collect.
 */
TEST(recover_of_an_unowned_slot_in_flight, 20)
{
	struct building b;
	struct slot_ref at;
	struct owner *o;
	char *p;

	open_heap();
	b = building_begin(heap_of(heap), NULL);
	p = unowned_slot(heap_of(heap), class_of(100));
	CHECK(p != NULL && slot_find(map_find(p), p, &at));
	*census_tag(at.slab, at.index) = 1; /* it was handed out */
	building_end(b);
	IN_KILLED_CHILD {
		CHECK(ash_heap_alloc(heap, 100) != NULL);
		o = seats_self(heap_of(heap));
		store_release(census_tag(at.slab, at.index), census_leaving(o));
		store_release(&truth_of(o)->flight, (uint64_t)(uintptr_t)p);
	}
	CHECK(ash_heap_recover(heap) > 0);
	CHECK_EQ(at.slab->remote[at.group] & at.bit, 0);
	CHECK_EQ(at.slab->owner & OWNER_PENDING, 0);
	CHECK_EQ(ash_heap_check(heap), 0);
	if (slot_is_taken(&at))
		ash_heap_release(heap, p);
	CHECK(!slot_is_taken(&at));
	CHECK_EQ(ash_heap_check(heap), 0);
}

/* A vacant record has no bins: the next thread that takes it over, and attaching, rely on it. */
TEST(recover_leaves_no_bins, 20)
{
	struct owner *o;
	unsigned class;

	open_heap();
	IN_KILLED_CHILD
		holds_blocks();
	CHECK_EQ(ash_heap_recover(heap), 1);
	for (o = heap_of(heap)->owners; o != NULL; o = o->next)
		for (class = 0; class < CLASSES && o->state == OWNER_VACANT; class++)
			CHECK(o->bins[class].slab == 0 && o->spare_units == 0);
}
