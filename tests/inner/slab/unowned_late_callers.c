/* SPDX-License-Identifier: MIT */
/* Unowned slabs (unowned.h): the next slot is found soon; callers that come late. */
#include "inner/slots.h"
#include "inner/slab/unowned.h"
#include "slab/unowned.h"
#include "support/handler_at_step.h"
#include "support/resident.h"

#include "support/shared_heap.h"
#include "syscall.h"

/* ---- the cost of a call does not grow with the heap ---- */

static size_t call_size;

DOES(call_alloc, blocks[BLOCKS - 1] = ash_alloc(call_size));

/* Instructions of the longest of so many calls on the unowned slabs. */
static size_t longest(unsigned calls)
{
	size_t most = 0, steps;

	for (unsigned i = 0; i < calls; i++) {
		(void)seat_take();
		steps = steps_of(call_alloc);
		seat_open();
		CHECK(blocks[BLOCKS - 1] != NULL);
		most = steps > most ? steps : most;
	}
	return most;
}

/* The heap has so many blocks in unowned slabs and as many in the thread's; every slab is full. */
static size_t longest_beside(size_t bytes)
{
	call_size = 8000;
	burst(NULL, call_size, bytes / 2 / call_size);
	for (size_t i = 0; i < bytes / 2 / 1000; i++)
		CHECK(ash_alloc(1000) != NULL);
	/* Units are free, so that growth of the heap is not counted. */
	ash_release(ash_alloc(8 * MIB));
	return longest(40);
}

TEST(slabs_unowned_slot_is_found_in_constant_time, 30)
{
	static size_t *most;
	long at = arch_mmap(NULL, PAGE, 3, 0x21, -1, 0); /* seen by the children */

	trap_need();
	CHECK(at > 0);
	most = (size_t *)at; /* NOLINT: the kernel's word is an address */
	for (size_t i = 0; i < 2; i++) {
		IN_CHILD
			most[i] = longest_beside((i == 0 ? 10 : scaled(80, 20)) * MIB);
	}
	rt_print("     10 MiB: %zu instructions, 80 MiB: %zu\n", most[0], most[1]);
	/* It may or may not have been a chunk full of such slabs that was looked at. */
	CHECK(most[1] <= most[0] + CHUNK_UNITS * 64);
}

/* Slots that became free in slabs without a hint are found before the heap is much larger. */
TEST(slabs_unowned_slots_are_found_again, 20)
{
	enum { SIZE = 1000, N = 32000 };
	size_t slabs, i;

	ash_release(ash_alloc(SIZE));
	burst(NULL, SIZE, N);
	slabs = stats_now().slabs;
	for (i = 0; i < N; i += 2)
		ash_release(blocks[i]);
	burst(NULL, SIZE, N / 2);
	CHECK(stats_now().slabs < slabs + slabs / 16);
}

/* ---- a caller that was stopped with the address in hand ---- */

static void *shared_one(size_t size)
{
	void *p;

	(void)seat_take();
	p = ash_alloc(size);
	seat_open();
	CHECK(p != NULL);
	return p;
}

/* The slab is unmade, and its units become an owned slab, then an unowned one of another class. */
TEST(slabs_unowned_late_caller, 10)
{
	void *kept = ash_alloc(100), *p, *q, *r;
	struct slab *s;
	unsigned class;

	CHECK(kept != NULL);
	p = shared_one(3000);
	s = place_of(p).slab;
	class = s->class;
	ash_release(p);
	ash_trim(0);
	CHECK_EQ(s->owner, 0);
	q = ash_alloc(9000);
	CHECK(q != NULL && ((uintptr_t)q ^ (uintptr_t)p) < UNIT_SIZE && place_of(q).slab != s); /* the same units */
	heap_default.unowned[class] = s;
	r = shared_one(3000);
	CHECK(((uintptr_t)r ^ (uintptr_t)q) >= UNIT_SIZE);
	ash_release(r);
	ash_release(q);
	ash_trim(0);
	CHECK(shared_one(500) == p);
	s = place_of(p).slab;
	CHECK(s->class != class);
	heap_default.unowned[class] = s;
	r = shared_one(3000);
	CHECK(place_of(r).slab != s && place_of(r).slab->class == class);
	CHECK_EQ(bits_count(s->free[0]), 63); /* given back */
	CHECK_EQ(ash_check(), 0);
	ash_release(p);
	ash_release(r);
	ash_release(kept);
}

/* No thread allocates from a slab that is being unmade, and it counts no block. */
TEST(slabs_unowned_while_one_is_unmade, 10)
{
	struct slab *s;
	void *p, *q;

	ash_release(ash_alloc(100));
	p = shared_one(3000);
	s = place_of(p).slab;
	ash_release(p);
	s->owner |= OWNER_CHANGING;
	s->free[0] = 0;
	CHECK_EQ(stats_now().blocks, 0);
	q = shared_one(3000);
	CHECK(place_of(q).slab != s);
	ash_trim(0);
	CHECK_EQ(s->owner, OWNER_UNOWNED | OWNER_CHANGING);
	ash_release(q);
}

/* ---- slots are taken from a slab that is about to be unmade ---- */

enum { ASIDE = GROUP_SLOTS + 1 };

static struct slot_ref going;
static void *aside[ASIDE];

DOES(free_going, CHECK(unowned_free(going.slab, going.index)));

static void free_slot(void *p)
{
	struct slot_ref at = place_of(p);

	CHECK(unowned_free(at.slab, at.index));
}

/* All of the first group and one of the second; only that one is kept. */
static void take_aside(void)
{
	for (size_t i = 0; i < ASIDE; i++)
		CHECK((aside[i] = unowned_slot(&heap_default, going.slab->class)) != NULL);
	for (size_t i = 0; i + 1 < ASIDE; i++)
		free_slot(aside[i]);
}

/* It stays, with all that is free in it; or it goes, and the slots are of another one. */
TEST(slabs_unowned_in_use_are_not_unmade, 20)
{
	unsigned class = class_of(200), free, g, stayed = 0;
	struct slab *full;
	struct slot_ref at;
	bool more = true;

	ash_release(ash_alloc(1));
	at = place_of(unowned_slot(&heap_default, class));
	full = at.slab;
	for (unsigned i = 1; i < full->slots; i++)
		CHECK(unowned_slot(&heap_default, class) != NULL);
	step_begin(take_aside);
	for (size_t k = 0; more; k += 5) {
		heap_default.unowned[class] = full;
		going = place_of(unowned_slot(&heap_default, class));
		CHECK(going.slab != full);
		heap_default.unowned[class] = full;
		more = with_act_at(k, free_going);
		if (!more)
			break;
		at = place_of(aside[ASIDE - 1]);
		CHECK(slot_is_taken(&at) && at.slab->owner == OWNER_UNOWNED);
		stayed += at.slab == going.slab;
		for (free = g = 0; g < at.slab->groups; g++)
			free += (unsigned)bits_count(at.slab->free[g]);
		CHECK_EQ(free, at.slab->slots - 1);
		CHECK_EQ(ash_check(), 0);
		free_slot(aside[ASIDE - 1]);
		(void)unowned_shrink(&heap_default);
	}
	CHECK(stayed > 10);
}

/* No unit is left: a slab that could not be made is counted neither as made nor twice as gone. */
TEST(slabs_unowned_not_made_are_not_counted, 10)
{
	ash_heap *heap = shared_heap(16 * MIB);
	struct heap *h = heap_of(heap);

	CHECK(heap != NULL);
	while (ash_heap_alloc(heap, SLOT_MAX) != NULL || ash_heap_alloc(heap, UNIT_SIZE) != NULL)
		;
	CHECK(unowned_slot(h, class_of(100)) == NULL);
	CHECK(h->unowned_made > 0);
	CHECK_EQ(h->unowned_made, h->unowned_gone);
	ash_heap_destroy(heap);
}

/* ... but for the slab of another class that was kept although it is empty. */
TEST(slabs_unowned_empty_serve_others, 10)
{
	ash_heap *heap = shared_heap(16 * MIB);
	struct heap *h = heap_of(heap);
	void *p;

	CHECK(heap != NULL);
	p = NOT_NULL(unowned_slot(h, class_of(3000)));
	while (ash_heap_alloc(heap, SLOT_MAX) != NULL || ash_heap_alloc(heap, UNIT_SIZE) != NULL)
		;
	CHECK(unowned_slot(h, class_of(100)) == NULL);
	free_slot(p);
	CHECK(h->unowned[class_of(3000)] != NULL && h->unowned_made > h->unowned_gone);
	CHECK(unowned_slot(h, class_of(100)) == p);
	ash_heap_destroy(heap);
}
