/* SPDX-License-Identifier: MIT */
/*
 * A release into a slab of the thread's own that was full, also one into which others have
 * released.  While the release changes lists, the record is marked (owner_begin): a child of fork
 * that takes the record over rebuilds it then.
 */
#include "inner/slots.h"
#include "support/handler_at_step.h"

enum { SIZE = 3000, APART = 50, BLOCKS = 150 * APART };

static char *blocks[BLOCKS], *next;
static size_t looks;

static bool list_is_right(const struct slabs *l)
{
	const struct slab *s, *before = slabs_tail(l);

	for (s = l->head; s != NULL; before = s, s = s->next)
		if (s->previous != before || !slab_is_ready(s))
			return false;
	return before == slabs_tail(l);
}

static void look(void)
{
	const struct owner *o = seat.self;
	unsigned class = class_of(SIZE);

	if ((o->building & 1) != 0)
		return;
	looks++;
	CHECK(list_is_right(&o->bins[class].partial));
}

DOES(release, ash_release(next));

static void make_entry(struct slot_ref at)
{
	fetch_or_seq_cst(&at.slab->remote[at.group], at.bit);
	fetch_or_seq_cst(&at.slab->owner, OWNER_PENDING);
	enter_by_hand(seat.self, at.slab);
}

static void at_steps(bool entries)
{
	struct slot_ref at;
	bool more = true;
	size_t i, k = 0;

	alloc_each(blocks, BLOCKS, SIZE);
	for (i = 0; more && i + APART < BLOCKS; i += APART, k += 3) {
		at = place_of(blocks[i]);
		CHECK(!slab_is_ready(at.slab) && current_slab(seat.self, at.slab->class) != at.slab);
		if (entries)
			make_entry(at);
		next = place_of(blocks[i + 1]).slab == at.slab ? blocks[i + 1] : blocks[i - 1];
		seat.self->pending_releases = 63; /* it collects */
		more = with_act_at(k, release);
		CHECK_EQ(seat.self->building, 0);
		look();
	}
	CHECK(!more && looks > 10);
	CHECK_EQ(ash_check(), 0);
}

TEST(pending_release_says_that_it_changes_lists, 20)
{
	step_begin(look);
	at_steps(true);
	at_steps(false);
}

/* A handler takes another slot of the group, and gives back another: the bits that the call read are old then. */
static char *held;

static void exchange_held(void)
{
	char *old = held;

	held = ash_alloc(48);
	ash_release(old);
}

TEST(pending_release_beside_a_handler, 20)
{
	bool more = true;

	step_begin(exchange_held);
	for (size_t k = 0; more; k++) {
		next = ash_alloc(48);
		held = ash_alloc(48);
		fetch_or_seq_cst(&place_of(next).slab->owner, OWNER_PENDING);
		seat.self->pending_releases = 62 + k % 2; /* it collects, or not */
		more = with_act_at(k / 2, release);
		ash_release(held);
		CHECK_EQ(stats_now().blocks, 0);
		CHECK_EQ(ash_check(), 0);
	}
}
