/* SPDX-License-Identifier: MIT */
/* What a living thread holds is not searched, and all else is (store/recover/holds.h). */
#include "store/recover/recover.h"

#include "store/recover/builders.h"
#include "store/recover/census.h"
#include "store/recover/holds.h"

#include "store/inner/lost.h" /* last: its names are short */

/* Units of which a living thread holds one: the others come back. */
TEST(inner_lost_units_beside_a_held_one, 10)
{
	struct building b;
	struct chunk *c;
	uint64_t units;

	set_up();
	c = map_find(block);
	units = c->units;
	CHECK((units & 0xff00) == 0xff00);
	c->units = units & ~(uint64_t)0xff00;
	lose();
	b = building_begin(h, NULL);
	holds_note(h, hold_units(c, 11, 1), true);
	(void)ash_heap_recover(heap);
	CHECK_EQ(c->units, units & ~(uint64_t)0x800);
	CHECK_EQ(store_lost(store), 1);
	building_end(b);
	(void)ash_heap_recover(heap);
	CHECK_EQ(c->units, units);
	CHECK_EQ(store_lost(store), 0);
}

/* More holds than there are places: then all is held, until the section ends. */
TEST(inner_lost_holds_beyond_all_places, 10)
{
	struct building b, c;
	uint64_t bit, i;

	set_up();
	bit = lose_unit();
	b = building_begin(h, NULL);
	for (i = 0; i < HOLD_PLACES; i++)
		holds_note(h, hold_record(1000 + i), true);
	(void)ash_heap_recover(heap);
	CHECK((map_find(block)->units & bit) != 0);
	bit = lose_unit();
	holds_note(h, hold_record(1000 + HOLD_PLACES), true);
	(void)ash_heap_recover(heap);
	CHECK((map_find(block)->units & bit) == 0);
	building_end(b);
	(void)ash_heap_recover(heap);
	CHECK((map_find(block)->units & bit) != 0);
	/* A section inside another one drops its own holds only. */
	bit = lose_unit();
	b = building_begin(h, seats_self(h));
	holds_note(h, hold_units(map_find(block), bits_lowest(bit), 1), true);
	c = building_begin(h, seats_self(h));
	CHECK(c.word == NULL);
	holds_note(h, hold_record(1000), true);
	building_end(c);
	CHECK_EQ(holds_used(holds_of(seats_self(h))), 1);
	(void)ash_heap_recover(heap);
	CHECK((map_find(block)->units & bit) == 0);
	building_end(b);
	(void)ash_heap_recover(heap);
	CHECK((map_find(block)->units & bit) != 0);
	CHECK_EQ(store_lost(store), 0);
}

/* Another process holds the unit, as one that searches does: it is its until it dies, with a record or without. */
static void other_holds(bool stranger)
{
	struct chunk *c = map_find(block);
	uint64_t bit = lose_unit(), *lives = ash_heap_zalloc(heap, 2, 8);
	long pid = rt_fork();

	if (pid == 0) {
		CHECK(ash_heap_alloc(heap, 100) != NULL);
		(void)building_begin(h, stranger ? NULL : seats_self(h));
		holds_note(h, hold_units(c, bits_lowest(bit), 1), true);
		store_release(&lives[0], 1);
		while (load_acquire(&lives[1]) == 0)
			rt_yield();
		rt_exit(0);
	}
	while (load_acquire(&lives[0]) == 0)
		rt_yield();
	(void)ash_heap_recover(heap);
	CHECK((c->units & bit) == 0);
	store_release(&lives[1], 1);
	CHECK_EQ(rt_wait(pid), 0);
	(void)ash_heap_recover(heap);
	CHECK((c->units & bit) != 0);
	CHECK_EQ(store_lost(store), 0);
}

TEST(inner_lost_unit_of_another_process, 10)
{
	set_up();
	needs_lives();
	other_holds(false);
	other_holds(true);
}

/* A record that no thread has holds nothing, whatever is written there; nor does an entry without a life. */
TEST(inner_lost_holds_of_nobody, 10)
{
	uint64_t bit;

	set_up();
	needs_lives();
	bit = lose_unit();
	ash_heap_thread_detach(heap);
	for (struct owner *o = h->owners; o != NULL; o = o->next)
		holds_of(o)[3] = HOLD_ALL;
	store_stranger(store, STRANGERS - 1)->holds[0] = HOLD_ALL;
	IN_CHILD
		(void)ash_heap_recover(heap);
	CHECK((map_find(block)->units & bit) != 0);
}

/* Chunks inside a span have no bit and no kind, and are not lost, also where the walk knows a shorter span. */
TEST(inner_lost_chunk_inside_a_span, 10)
{
	char *span;
	struct chunk *c;
	struct region *r;

	set_up();
	r = h->regions;
	span = NOT_NULL(ash_heap_alloc(heap, 5 * MIB));
	c = map_find(span);
	lose();
	(void)ash_heap_recover(heap);
	CHECK(!bits_all(r->free, c->index + 1, 1) && !bits_all(r->free, c->index + 2, 1));
	CHECK_EQ(store_lost(store), 0);
	/* The last one is not the span's: it was taken by one who died before the span got it. */
	CHECK_EQ(c->span_chunks, 3);
	c->span_chunks = 2;
	lose();
	(void)ash_heap_recover(heap);
	CHECK(!bits_all(r->free, c->index + 1, 1) && bits_all(r->free, c->index + 2, 1));
	CHECK_EQ(store_lost(store), 0);
}
