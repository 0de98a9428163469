/* SPDX-License-Identifier: MIT */
/* The fast paths of the calls other than ash_alloc and ash_release, and of large blocks. */
#include "inner/steps/harness.h"

#include "front/alloc.h"
#include "front/block.h"
#include "inner/slots.h"
#include "thread/refill.h"
#include "thread/settle.h"

#define WORD 0x0123456789abcdefu

static void take(void)
{
	uint64_t *p = NOT_NULL(ash_alloc(step_size));

	p[0] = p[step_size / 8 - 1] = WORD;
	step_block = p;
	steps_held++;
}

DOES(take_from_other, steps_other(take));

/* The next slot that the class gives was written and released. */
static void soil(void)
{
	take();
	ash_release(step_block);
	steps_held--;
}

/* ... and it was released last: not for the first time in its group, which is an event. */
static void soil_twice(void)
{
	soil();
	soil();
	CHECK(seat.latest == step_block);
}

/* For aligned blocks: of the class that twice the size has. */
DOES(take_twice, steps_take(2 * step_size));

/* Its slab has no other free slot, and no group that is ready. */
static void take_exhausted(void)
{
	const struct slab *s;
	unsigned class = class_of(step_size);

	steps_take(step_size * 3); /* there is room where it goes */
	take();
	for (s = current_slab(seat.self, class); current_slab(seat.self, class) == s;)
		steps_take(step_size);
}

/* The bin's slab is full. */
static void exhaust_slab(void)
{
	for (steps_take(step_size); slots_at_hand(seat.self, class_of(step_size)) != 0;)
		steps_take(step_size);
}

/* The bin of the size that it grows to has a full slab. */
static void take_where_no_room(void)
{
	for (steps_take(step_size * 3); slots_at_hand(seat.self, class_of(step_size * 3)) != 0;)
		steps_take(step_size * 3);
	take();
}

/* There is room where it goes. */
static void take_to_move(void)
{
	steps_take(step_size * 3);
	steps_take(step_size / 3);
	take();
}

/* An empty slab of this size is a spare. */
static void park(size_t size)
{
	void *p = ash_alloc(size);

	((char *)p)[0] = ((char *)p)[size - 1] = 1;
	ash_release(p);
}

DOES(park_it, park(step_size));

static void take_and_park_many(void)
{
	take();
	for (unsigned i = 3; i <= 6; i++)
		park(i * UNIT_SIZE);
}

static void do_alloc_or(void)
{
	step_block = ash_alloc_or(step_size, ash_alloc);
	steps_held++;
}

static void do_zalloc(void)
{
	uint64_t *p = ash_zalloc(1, step_size);

	CHECK(p[0] == 0 && p[step_size / 8 - 1] == 0);
	step_block = p;
	steps_held++;
}

static void do_aligned(void)
{
	step_block = ash_aligned_alloc(step_size, step_size + 1);
	CHECK_EQ((uintptr_t)step_block % step_size, 0);
	steps_held++;
}

static void resize(size_t to)
{
	uint64_t *p = ash_resize(step_block, to);

	CHECK(p[0] == WORD);
	CHECK(to < step_size || p[step_size / 8 - 1] == WORD);
	step_block = p;
}

DOES(do_nothing, resize(step_size - 8));
DOES(do_grow, resize(step_size * 3));
DOES(do_shrink, resize(step_size / 3));
DOES(do_ask, CHECK(ash_usable_size(step_block) >= step_size));

const struct path steps_fast[] = {
	{"allocate: 3000 bytes, fast", take, steps_alloc, AVOIDS(slot_alloc), 3000},
	{"allocate: 3000 bytes, next slab", exhaust_slab, steps_alloc, PASSES(slot_alloc), 3000},
	{"allocate: what was released last", soil_twice, steps_alloc, AVOIDS_ONCE(slot_alloc), 104},
	{"allocate, or: what was released last", soil_twice, do_alloc_or, AVOIDS_ONCE(slot_alloc),
	 104},
	{"allocate: large", NULL, steps_alloc, PASSES_AVOIDS(large_take, slot_alloc), 40000},
	{"allocate: large, a spare", park_it, steps_alloc, PASSES_AVOIDS(large_take, slabs_append),
	 40000},
	{"allocate: large, no room", steps_fill_units, steps_alloc, PASSES(spares_reduce), 40000},
	{"zero-allocate: large, a spare", park_it, do_zalloc,
	 PASSES_AVOIDS(large_take, slabs_append), 40000},
	{"release: large, a spare", take, steps_release, PASSES_AVOIDS(large_freed, units_give), 40000},
	{"release: large, too many spares", take_and_park_many, steps_release, PASSES(units_give),
	 150000},
	{"detach: large spares", take_and_park_many, ash_thread_detach, PASSES(slab_retire), 40000},
	{"allocate, or: fast", take, do_alloc_or, AVOIDS(slot_alloc), 104},
	{"allocate, or: next slab", exhaust_slab, do_alloc_or, PASSES(slot_alloc), 104},
	{"zero-allocate: fast", take, do_zalloc, AVOIDS(slot_alloc), 104},
	{"zero-allocate: fast, dirty", soil, do_zalloc, AVOIDS(slot_alloc), 104},
	{"zero-allocate: 3000 bytes, fast, dirty", soil, do_zalloc, AVOIDS(slot_alloc), 3000},
	{"zero-allocate: next slab", exhaust_slab, do_zalloc, PASSES(slot_alloc), 104},
	{"allocate: aligned, fast", take_twice, do_aligned, AVOIDS(slot_alloc), 64},
	{"resize: stays, fast", take, do_nothing, AVOIDS(block_bytes), 104},
	{"resize: grows, fast", take_to_move, do_grow, AVOIDS(block_bytes), 104},
	{"resize: shrinks, fast", take_to_move, do_shrink, AVOIDS(block_bytes), 312},
	{"resize: its slab was full", take_exhausted, do_grow,
	 PASSES_AVOIDS(settle_freed, block_bytes), 104},
	{"resize: no room at once", take_where_no_room, do_grow, PASSES_AVOIDS(slot_alloc, block_bytes), 104},
	{"resize: another thread's block", take_from_other, do_grow, PASSES(block_bytes), 104},
	{"usable size: fast", take, do_ask, AVOIDS(block_bytes), 104},
	{"usable size: another thread's block, fast", take_from_other, do_ask, AVOIDS(block_bytes),
	 104},
};
const size_t steps_fast_count = sizeof(steps_fast) / sizeof(steps_fast[0]);
