/* SPDX-License-Identifier: MIT */
/* The hand over holes lets the slabs go that it purges.  That holes go: api/keep_again.c. */
#include "inner/slots.h"

#include "slab/look.h"
#include "support/blocks.h"
#include "thread/seating.h"
#include "thread/settle.h"

enum { SIZE = 1000, MOST = 4096 };
static char *block[MOST];
static struct ash_defaults nothing; /* may be retained */

/* Two slabs, the first one full, the second one current with room. */
static struct slab *two_slabs(size_t *slots)
{
	struct slab *s;
	size_t i;

	if (PAGE_SIZE > UNIT_SIZE)
		rt_skip("the hand does not pass where a page is larger than a unit");
	nothing = ash_defaults;
	nothing.retain = 0;
	heap_default.options = &nothing;
	s = place_of(block[0] = ash_alloc(SIZE)).slab;
	*slots = s->slots;
	for (i = 1; i < *slots + 1; i++)
		block[i] = ash_alloc(SIZE);
	CHECK(place_of(block[*slots - 1]).slab == s && place_of(block[*slots]).slab != s && s->hold == SLAB_IDLE);
	for (i = 0; i < *slots; i++)
		memset(block[i], 1, SIZE);
	return s;
}

/* The hand passes over the heap. */
static void a_round(void)
{
	struct owner *o = seat_take();

	do
		hand_opened(o, 64);
	while (heap_default.idle.hand != 0);
	seat_give(o);
}

static void release_some(size_t from, size_t n)
{
	for (size_t i = from; i < from + n; i++)
		ash_release(block[i]);
}

/* The slab is used again as a whole; from then on it has no holes. */
TEST(hand_lets_the_slab_go, 10)
{
	size_t slots, i, reserved;
	struct slab *s = two_slabs(&slots);

	release_some(0, slots / 2);
	a_round();
	CHECK(s->hollow != 0 && s->hold == SLAB_IDLE);
	reserved = stats_now().slabs;
	for (i = 0; place_of(block[i] = ash_alloc(SIZE)).slab != s; i++)
		CHECK(i < slots);
	CHECK(s->hollow == 0 && s->hold == SLAB_IN_USE);
	for (i = 1; i < slots / 2; i++)
		CHECK(place_of(ash_alloc(SIZE)).slab == s);
	CHECK_EQ(stats_now().slabs, reserved);
	CHECK_EQ(ash_check(), 0);
}

/* A slot that is freed while another thread purges the full slab is counted as a hole; the slab then becomes current. */
TEST(hand_counts_a_slot_that_is_just_free, 10)
{
	size_t slots;
	struct slab *s = two_slabs(&slots), *last = place_of(block[slots]).slab;
	struct owner *o = seat_take();

	s->hollow = 1;
	seat_give(o);
	for (size_t i = slots + 1; last->ready != 0; i++)
		CHECK(place_of(block[i] = ash_alloc(SIZE)).slab == last);
	CHECK(seat_take() == o);
	settle_freed(o, s, 0, s->free[0] | 1);
	CHECK(bin_has(o, s) && s->hollow == 0);
	seat_give(o);
	CHECK(ash_alloc(SIZE) == block[0]);
	CHECK_EQ(ash_check(), 0);
}
