/* SPDX-License-Identifier: MIT */
/* A thread's seats in heaps: who gets them, and what a handler may do to them. */
#include "store/inner/seats.h"
#include "support/handler_at_step.h"
#include "syscall.h"

enum { RIVALS = 6 }; /* more than the entries that are looked at */

/* The first one is worked on, the others have its place in the page, too. */
static ash_heap *heap[1 + RIVALS];

static void *taken;

DOES(call, taken = ash_heap_alloc(heap[0], 100));

static void call_done(void)
{
	CHECK(taken != NULL && map_find(taken)->region->heap == heap_of(heap[0]));
	ash_heap_release(heap[0], taken);
}

/* They all want the entries where the interrupted call has its seat. */
static void displace(void)
{
	unsigned i;

	for (i = 1; i <= RIVALS; i++)
		use(heap[i]);
}

static void displace_and_return(void)
{
	displace();
	use(heap[0]);
}

static void at_each_boundary(bool shared, void (*acting)(void))
{
	size_t k = 0;
	unsigned i;

	make_rivals(heap, RIVALS, shared);
	displace();
	use(heap[0]);
	step_begin(acting);
	while (with_act_at(k, call)) {
		/* First the one that was last to take the seat: it has its own record. */
		for (i = RIVALS; i > 0; i--)
			use(heap[i]);
		call_done();
		for (i = 0; i <= RIVALS; i++) {
			use(heap[i]);
			CHECK_EQ(ash_heap_check(heap[i]), 0);
			CHECK_EQ(stats_of(heap[i]).blocks, 0);
		}
		/* Again seated, as at the beginning. */
		use(heap[0]);
		CHECK(seats_self(heap_of(heap[0])) != NULL);
		k += k < 80 ? 1 : 7; /* then it is among what all slow paths do */
	}
	call_done();
	CHECK(k > 40);
}

TEST_CALL(inner_seats_displaced_by_handler, 60, at_each_boundary(false, displace));
TEST_CALL(inner_seats_displaced_and_back, 60, at_each_boundary(false, displace_and_return));
TEST_CALL(inner_seats_displaced_shared, 60, at_each_boundary(true, displace));

/* The seat went to another heap: the record is this thread's as before, and no other one is made. */
static void seat_gone(bool shared)
{
	ash_heap *h = make(shared);
	struct seat_entry *e;
	struct owner *o;

	use(h);
	o = NOT_NULL(seats_take(heap_of(h), &e));
	seats_leave(e);
	use(h);
	CHECK(seats_self(heap_of(h)) == o && heap_of(h)->owners == o && o->next == NULL);
	CHECK_EQ(ash_heap_check(h), 0);
	ash_heap_destroy(h);
}

TEST_CALL(inner_seats_gone, 10, seat_gone(false));
TEST_CALL(inner_seats_gone_shared, 10, seat_gone(true));

/* The only one that has a page. */
static const struct bench *own_bench(unsigned kind)
{
	const struct bench *b = benches_first(kind);

	while (b->page == NULL)
		b = b->next;
	return b;
}

/* Heaps, each with a seat: whatever their number, none displaces another. */
static void seats_for_many(bool shared)
{
	enum { MANY = 4 * SEAT_ENTRIES };
	static ash_heap *many[MANY];
	unsigned i, round;

	for (i = 0; i < MANY; i++)
		many[i] = make(shared);
	for (round = 0; round < 3; round++)
		for (i = 0; i < MANY; i++) {
			CHECK(round == 0 || seats_self(heap_of(many[i])) != NULL);
			use(many[i]);
		}
	for (i = 0; i < MANY; i++) {
		CHECK(heap_of(many[i])->owners != NULL && heap_of(many[i])->owners->next == NULL);
		CHECK_EQ(ash_heap_check(many[i]), 0);
		ash_heap_destroy(many[i]);
	}
	/* And their entries are empty again; nothing has the id 0 (fields, heaps that are gone). */
	for (i = 0; i < SEAT_ENTRIES; i++)
		CHECK(own_bench(shared)->page->entry[i].id == 0 &&
		      own_bench(shared)->page->entry[i].self == NULL);
	for (i = 0; i < MANY; i++) {
		many[i] = make(shared);
		use(many[i]);
	}
	CHECK(own_bench(shared)->more[1] != NULL && own_bench(shared)->more[3] == NULL);
}

TEST_CALL(inner_seats_many, 20, seats_for_many(false));
TEST_CALL(inner_seats_many_shared, 20, seats_for_many(true));

/* Heaps come and go: the seats of those that are gone are for others. */
TEST(inner_seats_of_destroyed_heaps, 20)
{
	unsigned i;

	for (i = 0; i < 4 * SEAT_ENTRIES; i++) {
		ash_heap *h = make(i % 2 == 0);

		use(h);
		CHECK(seats_self(heap_of(h)) != NULL);
		if (i % 4 == 1)
			ash_heap_thread_detach(h);
		ash_heap_destroy(h);
	}
}

/* What is in the entry of another heap goes back where it was. */
TEST(inner_seats_checkout, 10)
{
	static struct owner one, other;
	struct seat_entry e = {.id = 6, .owner = &one, .self = &one};

	CHECK(seat_checkout(&e, 8) == NULL);
	CHECK(e.owner == &one);
	CHECK(seat_checkout(&e, 6) == &one);
	CHECK(e.owner == NULL);
	CHECK(seat_checkout(&e, 6) == NULL); /* it is out */
	e.owner = &one;
	e.self = &other; /* as after a handler that filled the seat again */
	CHECK(seat_checkout(&e, 6) == NULL);
	CHECK(e.owner == &other);
}
