/* SPDX-License-Identifier: MIT */
/* A thread's seats in heaps: who gets them, and what a handler may do to them. */
#include "shm/seats.h"

#include "ashlar_heap.h"
#include "heaps/instance.h"
#include "rt.h"
#include "shm/benches.h"
#include "support/handler_at_step.h"
#include "syscall.h"
#include "thread/holder.h"

enum { RIVALS = 6 }; /* more than the entries that are looked at */

/* The first one is worked on, the others have its place in the page, too. */
static ash_heap *heap[1 + RIVALS];

static ash_heap *make(bool shared)
{
	ash_heap *h =
		shared ? ash_heap_create_shared((size_t)4 << 20, NULL) : ash_heap_create(NULL);

	CHECK(h != NULL);
	return h;
}

static void make_rivals(bool shared)
{
	unsigned n = 1;

	heap[0] = make(shared);
	while (n <= RIVALS) {
		ash_heap *h = make(shared);

		if (seat_home(heap_of(h)->id) == seat_home(heap_of(heap[0])->id))
			heap[n++] = h;
		else
			ash_heap_destroy(h);
	}
}

static void use(ash_heap *h)
{
	void *p = ash_heap_alloc(h, 100);

	CHECK(p != NULL);
	CHECK(map_find(p)->region->heap == heap_of(h));
	ash_heap_release(h, p);
}

static void *taken;

static void call(void)
{
	taken = ash_heap_alloc(heap[0], 100);
}

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

static void at_each_boundary(void (*acting)(void))
{
	struct ash_stats st;
	size_t k = 0;
	unsigned i;

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
			ash_heap_stats(heap[i], &st);
			CHECK_EQ(st.blocks, 0);
		}
		/* Again seated, as at the beginning. */
		use(heap[0]);
		CHECK(seats_self(heap_of(heap[0])) != NULL);
		k += k < 80 ? 1 : 7; /* then it is among what all slow paths do */
	}
	call_done();
	CHECK(k > 40);
}

TEST(inner_seats_displaced_by_handler, 60)
{
	make_rivals(false);
	at_each_boundary(displace);
}

TEST(inner_seats_displaced_and_back, 60)
{
	make_rivals(false);
	at_each_boundary(displace_and_return);
}

TEST(inner_seats_displaced_shared, 60)
{
	make_rivals(true);
	at_each_boundary(displace);
}

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

TEST(inner_seats_many, 20)
{
	seats_for_many(false);
}

TEST(inner_seats_many_shared, 20)
{
	seats_for_many(true);
}

/* ---- threads that end without a word ---- */

static struct rt_barrier together;

static void use_and_end(void *shared)
{
	use(heap[0]);
	/* Not by the seat of a thread that had the bench before. */
	CHECK_EQ(seats_self(heap_of(heap[0]))->state, holder_seated(heap_of(heap[0])));
	if (shared != NULL)
		ash_heap_thread_detach(heap[0]);
	if (together.count != 0)
		rt_barrier_wait(&together);
	for (;;)
		arch_exit(0); /* without ash_thread_detach */
}

static size_t benches(unsigned kind, bool resident)
{
	const struct bench *b;
	size_t n = 0;

	for (b = benches_first(kind); b != NULL; b = b->next)
		n += b->page != NULL && (!resident || pages_there(b->page));
	return n;
}

static void threads_one_by_one(bool shared)
{
	struct rt_thread *t;
	unsigned i;

	heap[0] = make(shared);
	for (i = 0; i < (rt_under_qemu() ? 60 : 200); i++) {
		t = rt_thread_start(use_and_end, i % 2 == 0 ? NULL : heap[0]);
		CHECK(t != NULL);
		rt_thread_join(t);
	}
	/* The id that a thread had may be another one's for a while. */
	CHECK(benches(shared, false) < 20);
}

TEST(inner_seats_of_ended_threads, 20)
{
	threads_one_by_one(false);
}

TEST(inner_seats_of_ended_threads_shared, 20)
{
	threads_one_by_one(true);
}

TEST(inner_seats_of_many_ended_threads, 20)
{
	enum { THREADS = 40 };
	struct rt_thread *t[THREADS];
	unsigned i;

	heap[0] = make(true);
	together.count = THREADS;
	for (i = 0; i < THREADS; i++)
		CHECK((t[i] = rt_thread_start(use_and_end, NULL)) != NULL);
	for (i = 0; i < THREADS; i++)
		rt_thread_join(t[i]);
	CHECK(benches(SEATS_SHARED, true) >= THREADS);
	(void)ash_heap_recover(heap[0]);
	if (rt_under_qemu())
		rt_skip("whether pages are there is not to be seen (an emulator)");
	CHECK(benches(SEATS_SHARED, true) <= 1); /* our own */
	/* Those are for the next threads. */
	for (i = 0; i < THREADS; i++)
		CHECK((t[i] = rt_thread_start(use_and_end, NULL)) != NULL);
	for (i = 0; i < THREADS; i++)
		rt_thread_join(t[i]);
	CHECK(benches(SEATS_SHARED, false) <= THREADS + 2);
}

/* A thread that lives keeps its bench, whatever its id is to others: in a child, and its child. */
static void child_of_threads(unsigned depth)
{
	struct owner *before;
	struct rt_thread *t;
	unsigned i;
	long pid;

	use(heap[0]);
	before = seats_self(heap_of(heap[0]));
	for (i = 0; i < 8; i++) {
		t = rt_thread_start(use_and_end, NULL);
		CHECK(t != NULL);
		rt_thread_join(t);
		CHECK(seats_self(heap_of(heap[0])) == before);
	}
	if (depth > 0) {
		pid = rt_fork();
		if (pid == 0) {
			child_of_threads(depth - 1);
			rt_exit(0);
		}
		CHECK_EQ(rt_wait(pid), 0);
	}
	use(heap[0]);
	CHECK(seats_self(heap_of(heap[0])) == before);
}

TEST(inner_seats_of_children, 20)
{
	heap[0] = make(false);
	child_of_threads(3);
}

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
	e.self = &other; /* as after a handler that seated anew */
	CHECK(seat_checkout(&e, 6) == NULL);
	CHECK(e.owner == &other);
}
