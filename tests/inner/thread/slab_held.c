/* SPDX-License-Identifier: MIT */
/*
 * Slabs that are purged under their owner (core/thread/slab_purge.c): each is held meanwhile, and neither is an
 * unowned one, nor the slab of one slot that its owner may take again without asking.
 */
/* promises: ash_trim */
#include "ashlar.h"
#include "front/remote.h"
#include "inner/slots.h"
#include "pages.h"
#include "slab/unowned.h"
#include "support/handler_at_step.h"
#include "thread/seating.h"
#include "thread/slab_purge.h"

static struct slab *slab;
static size_t purged;

static void purge(void)
{
	size_t room = 0;

	purged = slabs_purge_held(&heap_default, slab, &room);
}

static size_t seen_held;

static void looks(void)
{
	seen_held += load_relaxed(&slab->hold) != SLAB_IDLE;
}

/* A slab of two slots, of which one is taken. */
TEST(slab_held_while_it_is_purged, 10)
{
	char *p = ash_alloc(15000), *q = ash_alloc(15000);
	size_t looked = 0;

	slab = place_of(p).slab;
	CHECK(place_of(q).slab == slab);
	CHECK_EQ(slab->slots, 2);
	memset(p, 1, 15000);
	memset(q, 2, 15000);
	ash_release(p);
	purge(); /* it is current */
	CHECK_EQ(purged, 0);
	CHECK(p[10000] == 1);
	seat_close();
	bin_detach(seat.self, slab->class);
	seat_open();
	slab->hold = SLAB_IN_USE;
	purge();
	CHECK(purged == 0 && p[10000] == 1 && slab->hold == SLAB_IN_USE);
	slab->hold = SLAB_IDLE;
	/* A record without a slab; a late release may have set its pending bit. */
	slab->owner = OWNER_PENDING;
	purge();
	slab->owner = 0;
	CHECK_EQ(purged, 0);
	purge();
	slab->owner = (uint64_t)(uintptr_t)seat.self;
	CHECK(purged == 0 && p[10000] == 1);
	step_begin(looks);
	for (size_t k = 0; with_act_at(k, purge); k += 1 + k / 2)
		looked++;
	CHECK(seen_held > looked / 4 && slab->hold == SLAB_IDLE);
	memset(p, 1, 15000);
	purge();
	if (!rt_under_qemu())
		CHECK(purged >= 12 * KIB && p[10000] == 0);
	CHECK(q[0] == 2 && q[14999] == 2);
	ash_release(q);
	CHECK_EQ(ash_check(), 0);
}

TEST(slab_without_an_owner_is_not_purged, 10)
{
	char *p = NOT_NULL(unowned_slot(&heap_default, class_of(20000)));

	slab = place_of(p).slab;
	memset(p, 1, 20000);
	ash_release(p);
	purge();
	CHECK(purged == 0 && p[10000] == 1 && slab->hold == SLAB_IDLE);
	CHECK_EQ(ash_check(), 0);
}

static unsigned char *block;
static bool taken;

/* Its owner's next call: a release, or an allocation that gets the same block. */
static void releases_or_takes(void)
{
	if (taken)
		ash_release(block);
	else
		memset(block = ash_alloc(100000), 3, 100000);
	taken = !taken;
}

TEST(slab_of_one_slot_under_its_owner, 20)
{
	size_t k;

	releases_or_takes();
	slab = place_of(block).slab;
	CHECK(slab->slots == 1);
	step_begin(releases_or_takes);
	for (act_again = 1; act_again < 30; act_again += act_again / 2 + 1)
		for (k = 0; with_act_at(k, purge); k += 1 + k / 8) {
			CHECK(place_of(block).slab == slab);
			if (!taken)
				releases_or_takes();
			CHECK(block[50000] == 3);
		}
	CHECK(k > 10);
	ash_release(block);
	CHECK_EQ(ash_check(), 0);
}

/* ---- what was purged counts as clean only until a slot is taken ---- */

enum { SLOTS = 8, SIZE = 4000 };
static void *blocks[SLOTS], *elsewhere;

/* As if so much that others emptied stayed already that no more may. */
static void released_by_others(void *p)
{
	store_relaxed(&heap_default.foreign.hand, 0);
	store_relaxed(&heap_default.foreign.told, 64);
	store_relaxed(&heap_default.foreign.kept, (uint64_t)1 << 30);
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

TEST(slab_purged_is_taken_again, 10)
{
	const struct slab *spare;
	char *p;

	needs_purges();
	elsewhere = ash_alloc(500);
	spare = own_spare();
	for (size_t i = 0; i < SLOTS; i++)
		blocks[i] = ash_alloc(SIZE);
	slab = place_of(blocks[0]).slab;
	CHECK(slab->slots == SLOTS && place_of(blocks[SLOTS - 1]).slab == slab);
	CHECK(place_of(ash_alloc(SIZE)).slab != slab);
	ash_release(blocks[0]); /* to the partial list */
	rt_in_thread(release_all, NULL);
	CHECK_EQ(slab->purged, SLAB_CLEAN);
	CHECK(spare->spare != 0 && spare->hold == SLAB_IDLE && spare->purged == 0 && spare->chunk == slab->chunk);
	do
		p = ash_alloc(SIZE);
	while (place_of(p).slab != slab);
	CHECK_EQ(slab->purged, 0);
	CHECK_EQ(ash_check(), 0);
}

/* What others emptied goes back at once and clean if it was purged; else it is a spare first, and dirty. */
static void goes_back(void (*others_release)(void *), bool purges)
{
	const struct chunk *c;
	struct owner *o;

	needs_purges();
	elsewhere = ash_alloc(500);
	for (size_t i = 0; i < SLOTS; i++)
		blocks[i] = ash_alloc(SIZE);
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
	if (heap_default.foreign.found == 0 || slab->hold != SLAB_IDLE || slab->purged != 0 || returned || boundaries-- > 0)
		return;
	slab->owner = owned;
	slab->remote[0] = slab->free[0] = 0;
	for (size_t i = 0; i < SLOTS; i++)
		memset(blocks[i], 9, SIZE);
	returned = true;
}

static void looks_at_others(void)
{
	slabs_purge_foreign(place_of(elsewhere).slab);
}

TEST(slab_whose_owner_returns_is_not_purged, 20)
{
	size_t n = 0;

	needs_purges();
	elsewhere = ash_alloc(500);
	for (size_t i = 0; i < SLOTS; i++)
		blocks[i] = ash_alloc(SIZE);
	slab = place_of(blocks[0]).slab;
	CHECK(slab->slots == SLOTS && place_of(ash_alloc(SIZE)).slab != slab);
	owned = slab->owner;
	step_begin(owner_returns);
	act_again = 1;
	do {
		slab->remote[0] = slab_group_mask(slab, 0);
		slab->owner = owned | OWNER_PENDING;
		slab->purged = 0;
		heap_default.foreign.hand = heap_default.foreign.found = 0;
		heap_default.foreign.told = 64;
		heap_default.foreign.kept = (uint64_t)1 << 30; /* so no more may stay */
		returned = false;
		boundaries = n;
		(void)with_act_at(0, looks_at_others);
		for (size_t i = 0; returned && i < SLOTS * SIZE; i += SIZE / 2)
			CHECK_EQ(((char *)blocks[i / SIZE])[i % SIZE], 9);
		n += returned;
	} while (returned);
	CHECK(slab->purged == SLAB_CLEAN && n > 10);
	rt_print("     %zu boundaries between the look and the hold\n", n);
	slab->remote[0] = slab->free[0] = slab->purged = 0;
	slab->owner = owned;
	CHECK_EQ(ash_check(), 0);
}

/*
 * A slab of 64 slots above 4 KiB, as there are while addresses are short; its record was that of one with more groups,
 * all free.  What lies behind its units is not its own.
 */
TEST(slab_purge_ends_with_the_slab, 10)
{
	enum { BLOCKS = 400, BYTES = 4608 };
	static char *p[BLOCKS];
	char *last = NULL;

	region_addresses_short = 1;
	for (unsigned i = 0; i < BLOCKS; i++) {
		memset(p[i] = NOT_NULL(ash_alloc(BYTES)), 7, BYTES);
		slab = place_of(p[i]).slab;
		if (slab->slots == GROUP_SLOTS && place_of(p[i]).index == GROUP_SLOTS - 1 && i < BLOCKS - 2 * GROUP_SLOTS)
			last = p[i];
	}
	slab = place_of(NOT_NULL(last)).slab;
	CHECK(slab->groups == 1 && slab->units * UNIT_SIZE == GROUP_SLOTS * BYTES);
	slab->free[1] = ~(uint64_t)0;
	ash_release(last);
	purge();
	for (unsigned i = 0; i < BLOCKS; i++)
		CHECK(p[i] == last || (p[i][0] == 7 && p[i][BYTES - 1] == 7));
	CHECK_EQ(ash_check(), 0);
}
