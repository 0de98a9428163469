/* SPDX-License-Identifier: MIT */
/* What goes before the calls on the paths of the harness of deaths. */
#include "store/death/before.h"

#include "backend/retain.h"
#include "front/slot.h"
#include "front/span.h"
#include "inner/slots.h"
#include "store/recover/recover.h"
#include "heaps/seats.h"
#include "thread/seating.h"

void before_three(void)
{
	for (unsigned i = 0; i < 3; i++)
		(void)book_take(death_size);
}

void before_record(void)
{
	ash_heap_release(death_heap, ash_heap_alloc(death_heap, 16));
}

void before_choose(size_t i)
{
	before_record();
	book->entry[i].loose = true;
	death_block = book->entry[i].p;
}

DOES(choose, before_choose(book->count - 1));

void before_take(void)
{
	before_three();
	choose();
}

void before_take_one(void)
{
	(void)book_take(death_size);
	choose();
}

DOES(one, (void)book_take(death_size));

/* What others did is the last entry of the book. */
#define BEFORE_TAKE(name, others)    \
	void before_##name(void)     \
	{                            \
		before_record();     \
		others;              \
		choose();            \
	}
BEFORE_TAKE(take_from_live, death_by_live(before_three))
BEFORE_TAKE(take_from_detached, death_by_detached(before_three))
BEFORE_TAKE(last_from_detached, death_by_detached(one))
BEFORE_TAKE(take_from_ended, death_by_ended(before_three))

/* The slab has remote bits, so its owner is notified already. */
void before_take_notified(void)
{
	before_record();
	death_by_live(before_three);
	book_release(&book->entry[book->count - 1]);
	choose();
}

void before_to_last_of_group(void)
{
	unsigned class = class_of(death_size);

	before_three();
	while (slots_at_hand(seats_self(heap()), class) != 1)
		(void)book_take(death_size);
}

static unsigned slots_left(void)
{
	struct slab *s = current_slab(seats_self(heap()), class_of(death_size));
	unsigned left = 0, g;

	for (g = 0; s != NULL && g < s->groups; g++)
		left += bits_count(s->free[g]);
	return left;
}

static void exhaust_but(unsigned left)
{
	do
		(void)book_take(death_size);
	while (slots_left() > left);
}

void before_exhaust(void)
{
	exhaust_but(0);
}

/* Two slabs: the first has free slots again. */
void before_partial(void)
{
	before_exhaust();
	(void)book_take(death_size);
	exhaust_but(1); /* while the bin has a slot, it does not follow the release */
	book_release(&book->entry[0]);
	(void)book_take(death_size);
}

/* Two slabs: the first is full. */
void before_full(void)
{
	before_exhaust();
	(void)book_take(death_size);
	exhaust_but(1);
	before_choose(0);
}

/* Both are. */
void before_exhausted(void)
{
	before_exhaust();
	(void)book_take(death_size);
	before_exhaust();
	before_choose(0);
}

static size_t free_units(void)
{
	struct region *r = heap()->regions;
	size_t i, n = 0;

	for (i = 0; i < r->chunks; i++)
		n += bits_count(region_chunk(r, i)->units);
	return n;
}

/* No chunk has units. */
void before_fill_chunks(void)
{
	before_exhaust();
	if (free_units() % 2 != 0) /* the first slab of its class: one unit */
		book_enter(ash_heap_alloc(death_heap, UNIT_SIZE - 1), 64);
	while (free_units() > 0)
		book_enter(ash_heap_alloc(death_heap, UNIT_SIZE + 1), 64);
}

static void release_some(void)
{
	for (unsigned i = 0; i < 5; i++)
		book_release(&book->entry[0]);
}

void before_remote_frees(void)
{
	before_exhaust();
	death_by_ended(release_some);
}

/* The block lies in the caller's own slab, which has remote bits. */
void before_take_beside(void)
{
	before_record(); /* a refill of that class would collect the bits */
	before_remote_frees();
	choose();
}

void before_adopt(void)
{
	death_by_detached(before_three);
	before_fill_chunks();
}

void before_take_over(void)
{
	death_by_ended(before_three);
	before_fill_chunks();
}

void before_dirty(void)
{
	char *p = NOT_NULL(ash_heap_alloc(death_heap, death_size));

	memset(p, 1, death_size);
	ash_heap_release(death_heap, p);
}

/* The second slab of the class has one block; the current one is another. */
void before_last_of_slab(void)
{
	struct chunk *c;
	struct slot_ref at, other;
	size_t i;

	before_exhaust();
	(void)book_take(death_size);
	c = map_find(book->entry[0].p);
	CHECK(slot_find(c, book->entry[0].p, &at));
	for (i = book->count; i-- > 1;)
		if (slot_find(map_find(book->entry[i].p), book->entry[i].p, &other) &&
		    other.slab == at.slab)
			book_release(&book->entry[i]);
	before_choose(0);
}

/* The same, and spares enough that an older one goes back, and its chunk. */
void before_last_of_slab_with_spares(void)
{
	void *p[SPARES + 1];
	unsigned i;

	for (i = 0; i <= SPARES; i++)
		p[i] = ash_heap_alloc(death_heap, 1500 + 900 * i);
	for (i = 0; i <= SPARES; i++)
		ash_heap_release(death_heap, p[i]);
	before_take_one();
}

/* The only block of its chunk. */
void before_last_of_chunk(void)
{
	before_fill_chunks();
	before_take_one();
}

/* What was kept throughout a period is more than may be kept. */
void before_period_over(void)
{
	void *p = NOT_NULL(ash_heap_alloc(death_heap, (size_t)10 << 20));

	memset(p, 1, (size_t)10 << 20);
	before_take_one();
	heap()->own.retain = (size_t)4 << 20;
	store_relaxed(&heap()->floor, ((size_t)20 << 20) / UNIT_SIZE);
	ash_heap_release(death_heap, p);
	store_relaxed(&heap()->period_low, load_relaxed(&heap()->dirty));
	store_relaxed(&heap()->clock, RETAIN_PERIOD - 1);
}

/* Something is taken behind the span. */
void before_hemmed(void)
{
	(void)book_take(death_size);
	(void)book_take(death_size);
	before_choose(0);
}
