/* SPDX-License-Identifier: MIT */
/*
 * Slabs that are purged under their owner (core/thread/settle_purge.c): each is held meanwhile, and neither is an
 * unowned one, nor the slab of one slot that its owner may take again without asking.
 */
/* promises: ash_trim */
#include "ashlar.h"
#include "front/remote.h"
#include "inner/slots.h"
#include "slab/unowned.h"
#include "support/handler_at_step.h"
#include "thread/seating.h"

static struct slab *slab;
static size_t purged;

static void purge(void)
{
	size_t room = 0;

	purged = slabs_purge_held(&heap_default, slab, &room);
}

static size_t seen_held;

DOES(looks, seen_held += load_relaxed(&slab->hold) != SLAB_IDLE);

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

/*
 * A slab of 64 slots above 4 KiB, as there are while addresses are short; its record was that of one with more groups,
 * all free.  The memory behind its units is not its own.
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

/*
 * The owner unmakes a large slab, which it does not hold, and is stopped while it makes one of many slots there: the
 * number of slots is the new slab's, the number of units still the old one's.
 */
static void is_made_of_many_slots(void)
{
	store_release(&slab->owner, (uint64_t)0);
	store_relaxed(&slab->made, slab->made + 1);
	store_relaxed(&slab->slot_size, (uint32_t)16);
	store_relaxed(&slab->slots, (uint64_t)SLAB_SLOTS);
}

TEST(slab_purge_meets_an_owner_that_makes_another, 20)
{
	enum { BYTES = 100000 };
	struct slab before;
	bool more = true;
	size_t k;

	block = NOT_NULL(ash_alloc(BYTES));
	slab = place_of(block).slab;
	CHECK(slab->slots == 1 && slab->units > 1);
	memset(block, 3, BYTES);
	for (unsigned g = 1; g < SLAB_GROUPS; g++)
		slab->free[g] = ~(uint64_t)0; /* of an earlier slab of the record */
	memcpy(&before, slab, sizeof before);
	step_begin(is_made_of_many_slots);
	for (k = 0; more; k++) {
		more = with_act_at(k, purge);
		CHECK_EQ(slab->hold, SLAB_IDLE);
		memcpy(slab, &before, sizeof before);
		for (size_t i = UNIT_SIZE; i < BYTES; i++)
			CHECK_EQ(block[i], 3);
	}
	CHECK(k > 10);
	ash_release(block);
	CHECK_EQ(ash_check(), 0);
}
