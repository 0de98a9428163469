/* SPDX-License-Identifier: MIT */
/* Seats of threads that end without ash_thread_detach, and of forked children. */
#include "store/inner/seats.h"

#include "syscall.h"

static ash_heap *heap;

/*
 * Its first chunk is open before there are threads: while two of them open the only two chunks,
 * a third has none, and its answer is NULL.
 */
static void make_open(bool shared)
{
	heap = make(shared);
	use(heap);
}

static struct rt_barrier together;

static void use_and_end(void *shared)
{
	use(heap);
	/* Not by the seat of a thread that had the bench before. */
	CHECK_EQ(seats_self(heap_of(heap))->state, holder_seated(heap_of(heap)));
	if (shared != NULL)
		ash_heap_thread_detach(heap);
	if (together.count != 0)
		rt_barrier_wait(&together);
	for (;;)
		arch_exit(0); /* without ash_thread_detach */
}

/* Until the kernel has let go of it, too: a thread that was joined lives for it a moment longer. */
static void join(struct rt_thread *t)
{
	uint64_t id = (uint64_t)rt_thread_tid(t);

	rt_thread_join(t);
	while (!process_thread_is_gone(id))
		rt_yield();
}

static void threads_one_by_one(bool shared)
{
	struct rt_thread *t;
	unsigned i;

	make_open(shared);
	for (i = 0; i < (rt_under_qemu() ? 60 : 200); i++) {
		t = NOT_NULL(rt_thread_start(use_and_end, i % 2 == 0 ? NULL : heap));
		join(t);
	}
	/* The id that a thread had may be another one's for a while. */
	CHECK(benches(shared, false) < 20);
}

TEST_CALL(inner_seats_of_ended_threads, 20, threads_one_by_one(false));
TEST_CALL(inner_seats_of_ended_threads_shared, 20, threads_one_by_one(true));

TEST(inner_seats_of_many_ended_threads, 20)
{
	enum { THREADS = 40 };
	struct rt_thread *t[THREADS];
	unsigned i;

	make_open(true);
	together.count = THREADS;
	for (i = 0; i < THREADS; i++)
		CHECK((t[i] = rt_thread_start(use_and_end, NULL)) != NULL);
	for (i = 0; i < THREADS; i++)
		join(t[i]);
	CHECK(benches(SEATS_SHARED, true) >= THREADS);
	(void)ash_heap_recover(heap);
	if (rt_under_qemu())
		rt_skip("whether pages are there is not to be seen (an emulator)");
	CHECK(benches(SEATS_SHARED, true) <= 1); /* our own */
	/* Those are for the next threads. */
	for (i = 0; i < THREADS; i++)
		CHECK((t[i] = rt_thread_start(use_and_end, NULL)) != NULL);
	for (i = 0; i < THREADS; i++)
		join(t[i]);
	CHECK(benches(SEATS_SHARED, false) <= THREADS + 2);
}

/* A thread that lives keeps its bench, whatever its id is to others: in a child, and its child. */
static void child_of_threads(unsigned depth)
{
	struct owner *before;
	struct rt_thread *t;
	unsigned i;

	use(heap);
	before = seats_self(heap_of(heap));
	for (i = 0; i < 8; i++) {
		t = NOT_NULL(rt_thread_start(use_and_end, NULL));
		join(t);
		CHECK(seats_self(heap_of(heap)) == before);
	}
	if (depth > 0) {
		IN_CHILD
			child_of_threads(depth - 1);
	}
	use(heap);
	CHECK(seats_self(heap_of(heap)) == before);
}

TEST(inner_seats_of_children, 20)
{
	make_open(false);
	child_of_threads(3);
}
