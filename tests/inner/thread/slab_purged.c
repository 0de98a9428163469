/* SPDX-License-Identifier: MIT */
/*
 * Slabs that others emptied, purged as a whole (core/thread/settle.h): they count as clean until a slot is taken, and
 * not one of their owner goes that returned meanwhile.
 */
/* promises: ash_release */
#include "ashlar.h"
#include "front/remote.h"
#include "inner/slots.h"
#include "support/handler_at_step.h"
#include "thread/seating.h"

static struct slab *slab;

enum { SLOTS = 8, SIZE = 4000 };
static void *blocks[SLOTS], *elsewhere;

/* As if so much that others emptied stayed already that no more may. */
static void released_by_others(void *p)
{
	store_relaxed(&heap_default.idle.hand, 0);
	store_relaxed(&heap_default.idle.told, 64);
	store_relaxed(&heap_default.idle.kept, (uint64_t)1 << 30);
	ash_release(p);
}

static void needs_purges(void)
{
	if (PAGE_SIZE > UNIT_SIZE)
		rt_skip("a unit is less than a page: what others emptied stays");
}

static void release_all(UNUSED void *argument)
{
	for (size_t i = 1; i < SLOTS; i++)
		released_by_others(blocks[i]);
	released_by_others(elsewhere); /* another slab: its notification looks at the chunk */
}

/* A slab that its owner emptied, and will use again. */
static struct slab *own_spare(void)
{
	void *p[32];
	size_t n = 0;

	do
		p[n] = NOT_NULL(ash_alloc(6000));
	while (place_of(p[n++]).slab == place_of(p[0]).slab);
	release_each(p, n - 1);
	return place_of(p[0]).slab;
}

static void taken_again(bool watched)
{
	const struct slab *spare;
	struct owner *o;
	char *p;

	needs_purges();
	elsewhere = ash_alloc(500);
	spare = own_spare();
	alloc_each(blocks, SLOTS, SIZE);
	slab = place_of(blocks[0]).slab;
	CHECK(slab->slots == SLOTS && place_of(blocks[SLOTS - 1]).slab == slab);
	CHECK(place_of(ash_alloc(SIZE)).slab != slab);
	ash_release(blocks[0]); /* to the partial list */
	rt_in_thread(release_all, NULL);
	CHECK_EQ(slab->purged, SLAB_CLEAN);
	CHECK(spare->spare != 0 && spare->hold == SLAB_IDLE && spare->purged == 0 && spare->chunk == slab->chunk);
	if (watched) { /* while the clock runs, slots come from slabs of the partial list (bin_pass) */
		o = seat_take();
		store_relaxed(&heap_default.running, 1);
		owner_count(o);
		CHECK(o->watched && slab_is_ready(slab) && current_slab(o, slab->class) == NULL);
		seat_give(o);
	}
	do
		p = ash_alloc(SIZE);
	while (place_of(p).slab != slab);
	CHECK_EQ(slab->purged, 0);
	CHECK(!watched || current_slab(seat.self, slab->class) == NULL);
	CHECK_EQ(ash_check(), 0);
}

TEST_CALL(slab_purged_is_taken_again, 10, taken_again(false));
TEST_CALL(slab_purged_is_taken_again_beside_the_clock, 10, taken_again(true));

/* A slab that others emptied goes back at once and clean if it was purged; else it is a spare first, and dirty. */
static void goes_back(void (*others_release)(void *), bool purges)
{
	const struct chunk *c;
	struct owner *o;

	needs_purges();
	elsewhere = ash_alloc(500);
	alloc_each(blocks, SLOTS, SIZE);
	slab = place_of(blocks[0]).slab;
	c = slab->chunk;
	CHECK(place_of(ash_alloc(SIZE)).slab != slab);
	ash_release(blocks[0]);
	rt_in_thread(others_release, NULL);
	CHECK_EQ(slab->purged, purges ? SLAB_CLEAN : 0);
	o = seat_take();
	collect_slab(o, slab);
	CHECK((slab->owner == 0) == purges);
	spares_reduce(o, 0);
	seat_give(o);
	CHECK_EQ(slab->owner, 0);
	CHECK((c->clean >> slab->unit & 1) == purges);
	/* A thread that released the last of it tells the owner only now. */
	slab->owner = OWNER_PENDING;
	remote_notify_slow(slab, 0);
	slab->owner = 0;
	CHECK_EQ(ash_check(), 0);
}

static void release_each_other(UNUSED void *argument)
{
	release_each(blocks + 1, SLOTS - 1);
}

TEST_CALL(slab_that_was_not_purged_goes_back, 10, goes_back(release_each_other, false));
TEST_CALL(slab_that_was_purged_goes_back, 10, goes_back(release_all, true));

TEST(slab_of_one_slot_purged_and_made_again, 10)
{
	char *p = ash_alloc(100000);

	needs_purges();
	slab = place_of(p).slab;
	rt_in_thread(released_by_others, p);
	CHECK_EQ(slab->purged, SLAB_CLEAN);
	p = ash_alloc(100000);
	CHECK(place_of(p).slab == slab);
	CHECK_EQ(slab->purged, 0);
	CHECK_EQ(ash_check(), 0);
}

/* ---- the owner returns between the look at its slab and the hold ---- */

static uint64_t owned;
static size_t boundaries; /* until it returns */
static bool returned;

static void owner_returns(void)
{
	if (heap_default.idle.found == 0 || slab->hold != SLAB_IDLE || slab->purged != 0 || returned || boundaries-- > 0)
		return;
	slab->owner = owned;
	slab->remote[0] = slab->free[0] = 0;
	for (size_t i = 0; i < SLOTS; i++)
		memset(blocks[i], 9, SIZE);
	returned = true;
}

DOES(looks_at_others, hand_told(place_of(elsewhere).slab));

TEST(slab_whose_owner_returns_is_not_purged, 20)
{
	size_t n = 0;

	needs_purges();
	elsewhere = ash_alloc(500);
	alloc_each(blocks, SLOTS, SIZE);
	slab = place_of(blocks[0]).slab;
	CHECK(slab->slots == SLOTS && place_of(ash_alloc(SIZE)).slab != slab);
	owned = slab->owner;
	step_begin(owner_returns);
	act_again = 1;
	do {
		slab->remote[0] = slab_group_mask(slab, 0);
		slab->owner = owned | OWNER_PENDING;
		slab->purged = 0;
		heap_default.idle.hand = heap_default.idle.found = 0;
		heap_default.idle.told = 64;
		heap_default.idle.kept = (uint64_t)1 << 30; /* so no more may stay */
		returned = false;
		boundaries = n;
		(void)with_act_at(0, looks_at_others);
		for (size_t i = 0; returned && i < SLOTS * SIZE; i += SIZE / 2)
			CHECK_EQ(((char *)blocks[i / SIZE])[i % SIZE], 9);
		n += returned ? 3 : 0;
	} while (returned);
	CHECK(slab->purged == SLAB_CLEAN && n > 10);
	rt_print("     %zu boundaries between the look and the hold\n", n);
	slab->remote[0] = slab->free[0] = slab->purged = 0;
	slab->owner = owned;
	CHECK_EQ(ash_check(), 0);
}
