/* SPDX-License-Identifier: MIT */
/* Benches of several parts, and seats where there is no memory for another part. */
#include "inner/forget.h"
#include "store/inner/seats.h"

#include "support/handler_at_step.h"
#include "syscall.h"

enum { MANY = 3 * SEAT_ENTRIES };

static ash_heap *many[MANY];

static void make_many(void)
{
	for (unsigned i = 0; i < MANY; i++)
		CHECK((many[i] = ash_heap_create(NULL)) != NULL);
}

static void use_many(void)
{
	for (unsigned i = 0; i < MANY; i++) {
		ash_heap_release(many[i], ash_heap_alloc(many[i], 100));
		CHECK(seats_self(heap_of(many[i])) != NULL);
	}
}

static void use_many_and_end(UNUSED void *argument)
{
	use_many();
	/* Each seat has a record of this thread, not one of a thread that had the bench before. */
	for (unsigned i = 0; i < MANY; i++)
		CHECK_EQ(seats_self(heap_of(many[i]))->state, holder_seated(heap_of(many[i])));
	for (;;)
		(void)arch_exit(0); /* without ash_thread_detach */
}

static void threads_of_many_heaps(void)
{
	enum { THREADS = 40 };
	size_t before = benches(SEATS_OF_PROCESS, false); /* of the parent's threads, too */

	for (unsigned i = 0; i < THREADS; i++)
		rt_in_thread(use_many_and_end, NULL);
	CHECK(benches(SEATS_OF_PROCESS, false) < before + THREADS / 2); /* benches of ended threads were used again */
}

TEST(inner_seats_parts_of_ended_threads, 20)
{
	make_many();
	threads_of_many_heaps();
}

static void in_children(unsigned depth)
{
	uint64_t generation = generation_now();

	use_many();
	threads_of_many_heaps();
	if (depth == 0)
		return;
	IN_CHILD {
		CHECK_EQ(generation_now(), generation + 1);
		in_children(depth - 1);
	}
}

/* Benches of ended threads are found in forked processes, too (generation.h). */
TEST(inner_seats_parts_in_children, 20)
{
	make_many();
	in_children(2);
}

/* A bench that is emptied has no entry in any part. */
TEST(inner_seats_parts_forgotten, 10)
{
	struct bench *b = NOT_NULL(thread_bench(SEATS_OF_PROCESS));
	struct seat_entry *part;
	size_t entries, i;
	unsigned p, parts;

	for (parts = 1; bench_grow(b); parts++)
		;
	CHECK_EQ(parts, BENCH_PARTS); /* no word behind the last part was used */
	for (i = 0; i < PAGE_SIZE / sizeof *b; i++)
		CHECK(bench_take(SEATS_OF_PROCESS) != NULL); /* its neighbours have holders */
	CHECK(b->more[BENCH_PARTS - 2] != NULL);
	for (p = 0; p < BENCH_PARTS; p++) {
		part = bench_part(b, p, &entries);
		for (i = 0; i < entries; i++)
			part[i] = (struct seat_entry){.id = 6 + 2 * i, .word = 1};
	}
	benches_forget();
	for (parts = 0; parts < BENCH_PARTS; parts++) {
		part = bench_part(b, parts, &entries);
		for (i = 0; i < entries; i++)
			CHECK(part[i].id == 0 && part[i].word == 0);
	}
}

/*
 * A thread leaves its bench while another one, which destroys a heap, is emptying an entry: the mark stays, or
 * the bench's next holder could give the entry to another heap, and the first heap's end would empty that.
 */
TEST(inner_seats_parts_left_while_closing, 10)
{
	struct bench *b = bench_take(SEATS_OF_PROCESS);
	struct owner other;
	size_t entries;

	CHECK(b != NULL && bench_grow(b));
	for (unsigned p = 0; p < 2; p++) {
		struct seat_entry *part = bench_part(b, p, &entries);

		part[3] = (struct seat_entry){.id = ID_CLOSING, .self = &other};
		part[5] = (struct seat_entry){.id = 12, .self = &other};
		bench_leave(b);
		CHECK(part[3].id == ID_CLOSING && part[3].self == &other);
		CHECK(part[5].id == 0 && part[5].self == NULL);
		part[3] = (struct seat_entry){.id = 0};
		CHECK(bench_take(SEATS_OF_PROCESS) == b);
	}
}

static struct bench *leaving;
static struct seat_entry *closing;
static bool marked;

DOES(leave, bench_leave(leaving));

/* As seats_close begins. */
static void close_entry(void)
{
	uint64_t id = 12;

	marked = cas_acq_rel(&closing->id, &id, ID_CLOSING);
}

/* The same, where the other thread begins at any instruction until the entry is empty: its mark stays. */
TEST(inner_seats_parts_left_and_closed, 20)
{
	struct owner other;
	size_t entries, k, marks = 0, late = 0;

	leaving = NOT_NULL(bench_take(SEATS_OF_PROCESS));
	closing = bench_part(leaving, 0, &entries);
	step_begin(close_entry);
	for (k = 0; late < 30; k++) {
		*closing = (struct seat_entry){.id = 12, .self = &other};
		CHECK(with_act_at(k, leave));
		CHECK_EQ(closing->id, marked ? ID_CLOSING : 0);
		marks += marked;
		late += !marked;
		closing->id = 0;
		CHECK(bench_take(SEATS_OF_PROCESS) == leaving);
	}
	CHECK(marks > 10);
}

/* Once the thread has a seat, calls on shared heaps take the fast path. */
TEST(inner_seats_parts_open, 10)
{
	ash_heap *shared = ash_heap_create_shared(4 * MIB, NULL);
	struct seat_entry *t;
	struct owner *o;

	ash_heap_release(shared, ash_heap_alloc(shared, 100));
	if (!process_mark_is_wiped())
		rt_skip("the system does not wipe marks at a fork, so each call looks at it");
	o = seats_guess(heap_of(shared), &t);
	CHECK(o != NULL && o == seats_self(heap_of(shared)));
	seats_give(t, o);
}

/* ---- no memory for another part ---- */

enum { RIVALS = BENCH_PROBES + 2 };

static ash_heap *rival[1 + RIVALS];
static void *taken;

static void use_rivals(void)
{
	for (unsigned i = 1; i <= RIVALS; i++)
		use(rival[i]);
}

static void use_and_detach(UNUSED void *argument)
{
	for (unsigned i = 0; i <= RIVALS; i++) {
		use(rival[i]);
		ash_heap_thread_detach(rival[i]);
	}
}

/*
 * Heaps whose seats compete for the same entries.  Another thread has used and left them, so
 * that they have memory and vacant records.
 */
static void rivals_without_memory(void)
{
	use(make(false)); /* the bench is there */
	make_rivals(rival, RIVALS, false);
	rt_in_thread(use_and_detach, NULL);
	if (!rt_limit_address_space(4096))
		rt_skip("no limit of address space to be had under QEMU 7.2");
}

/* Each heap displaces the seat of another one, and gets a record again. */
TEST(inner_seats_displaced_without_memory, 20)
{
	unsigned round, i;

	rivals_without_memory();
	for (round = 0; round < 3; round++)
		for (i = 0; i <= RIVALS; i++) {
			use(rival[i]);
			CHECK(seats_self(heap_of(rival[i])) != NULL);
		}
	CHECK(thread_bench_look(SEATS_OF_PROCESS)->more[0] == NULL);
	for (i = 0; i <= RIVALS; i++)
		CHECK_EQ(ash_heap_check(rival[i]), 0);
}

DOES(call, taken = ash_heap_alloc(rival[0], 100));

/* A handler does not displace the seat whose record the interrupted call has checked out. */
TEST(inner_seats_displaced_without_memory_at_each_step, 60)
{
	size_t k;

	rivals_without_memory();
	use_rivals();
	use(rival[0]);
	step_begin(use_rivals);
	for (k = 0; with_act_at(k, call); k += rt_in_full() ? 1 : 3) {
		CHECK(taken != NULL && map_find(taken)->region->heap == heap_of(rival[0]));
		ash_heap_release(rival[0], taken);
		for (unsigned i = 0; i <= RIVALS; i++) {
			CHECK_EQ(ash_heap_check(rival[i]), 0);
			CHECK_EQ(stats_of(rival[i]).blocks, 0);
		}
		use(rival[0]);
		CHECK(seats_self(heap_of(rival[0])) != NULL);
	}
	CHECK(k > 20);
}
