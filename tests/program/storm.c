/* SPDX-License-Identifier: MIT */
/*
 * A storm of signals: eight threads work in all size classes, each with a
 * timer of its own at 10 kHz, whose handler works the same heap.  A program
 * of its own because it takes its seconds, whatever the machine.
 */
/* promises: ash_alloc, ash_trim, ash_zalloc */
#include "support/stamp.h"
#include "thread/owner.h"
#include "thread/seat.h"

#include <stdatomic.h>

enum { SIGALRM = 14, THREADS = 8, POOL = 64, OWN = 6, SIZES = 160 };
enum { MICROSECONDS = 100, SECONDS = 10, FEW_SECONDS = 3, CHECK_EVERY = 1024 };

/* Blocks of each thread, where its handler and the other threads find them. */
static struct worker {
	_Alignas(128) _Atomic uint64_t pool[POOL];
	_Atomic uint64_t handlers, in_calls, operations;
	_Atomic long timer; /* and 1; 0: not yet */
	unsigned number;
} workers[THREADS];
static _Thread_local struct worker *me;
static _Thread_local struct rt_random handlers_chance;

static size_t sizes[SIZES]; /* one of each class, and spans */
static size_t size_count;
static _Atomic bool done;

static void find_sizes(void)
{
	size_t size;

	for (size = 8; size <= (size_t)1 << 20; size = ash_good_size(size + 1)) {
		CHECK(size_count < SIZES - 2);
		sizes[size_count++] = size;
	}
	CHECK(size_count > 80);
	sizes[size_count++] = ((size_t)1 << 20) + 1;
	sizes[size_count++] = (size_t)3 << 20;
}

/* Any class; large ones less often, as each touches many pages. */
static size_t any_size(struct rt_random *r)
{
	return sizes[rt_below(r, rt_below(r, 8) == 0 ? size_count : size_count / 2)];
}

static uint64_t fresh(struct rt_random *r)
{
	size_t size = any_size(r);
	bool zero = rt_below(r, 4) == 0;
	uint64_t *p = zero ? ash_zalloc(1, size) : ash_alloc(size);

	CHECK(p != NULL);
	if (zero)
		for (size_t i = 0; i < size / 8; i += stamp_step(size / 8, i))
			CHECK_EQ(p[i], 0);
	return stamp_set(p, size, rt_next(r));
}

static void put(struct rt_random *r, struct worker *w, uint64_t stamp)
{
	stamp = atomic_exchange(&w->pool[rt_below(r, POOL)], stamp);
	if (stamp != 0)
		stamp_release(stamp);
}

static uint64_t take(struct rt_random *r, struct worker *w)
{
	return atomic_exchange(&w->pool[rt_below(r, POOL)], 0);
}

static void release_one(struct rt_random *r, struct worker *w)
{
	uint64_t stamp = take(r, w);

	if (stamp != 0)
		stamp_release(stamp);
}

static void resize_one(struct rt_random *r, struct worker *w)
{
	uint64_t stamp = take(r, w);

	if (stamp != 0)
		put(r, w, stamp_resize(stamp, any_size(r), rt_next(r)));
}

static struct worker *another(struct rt_random *r)
{
	return &workers[(me->number + 1 + rt_below(r, THREADS - 1)) % THREADS];
}

static void handler(UNUSED int number, UNUSED void *info, UNUSED void *context)
{
	struct rt_random *r = &handlers_chance;
	/* A call has the owner checked out: it is what we came between. */
	bool in_call = seat.self != owner_none && seat.open == 0;
	uint64_t own[OWN];

	for (size_t i = 0; i < OWN; i++)
		own[i] = fresh(r);
	release_one(r, me);
	release_one(r, another(r));
	resize_one(r, me);
	resize_one(r, another(r));
	own[0] = stamp_resize(own[0], any_size(r), 1);
	for (size_t i = 0; i < OWN; i++)
		if (i % 2 == 0)
			stamp_release(own[i]);
		else
			put(r, i == 1 ? me : another(r), own[i]);
	if (rt_below(r, CHECK_EVERY) == 0)
		CHECK_EQ(ash_check(), 0);
	atomic_fetch_add(&me->handlers, 1);
	atomic_fetch_add(&me->in_calls, in_call);
}

static void worker_body(void *argument)
{
	struct rt_random random;
	uint64_t n;
	long timer;

	me = argument;
	rt_seed(&random, rt_test_seed() + me->number);
	rt_seed(&handlers_chance, rt_test_seed() + THREADS + me->number);
	timer = rt_timer_here(MICROSECONDS);
	CHECK(timer >= 0);
	atomic_store(&me->timer, timer + 1);
	for (n = 0; !atomic_load(&done); n++) {
		switch (rt_below(&random, 4)) {
		case 0:
			release_one(&random, rt_below(&random, 4) != 0 ? me : another(&random));
			break;
		case 1:
			resize_one(&random, me);
			break;
		default:
			put(&random, me, fresh(&random));
		}
		if (n % 65536 == 65535)
			ash_trim(0);
		atomic_store(&me->operations, n);
	}
}

static void end_timers(void)
{
	for (size_t i = 0; i < THREADS; i++) {
		long timer;

		while ((timer = atomic_load(&workers[i].timer)) == 0)
			rt_yield();
		rt_timer_end(timer - 1);
	}
}

static void release_all(void)
{
	for (size_t i = 0; i < THREADS; i++)
		for (size_t k = 0; k < POOL; k++)
			if (workers[i].pool[k] != 0)
				stamp_release(workers[i].pool[k]);
}

static bool stormy(void)
{
	uint64_t handlers = 0, in_calls = 0, operations = 0, least = UINT64_MAX;

	for (size_t i = 0; i < THREADS; i++) {
		uint64_t n = atomic_load(&workers[i].handlers);

		least = n < least ? n : least;
		handlers += n;
		in_calls += atomic_load(&workers[i].in_calls);
		operations += atomic_load(&workers[i].operations);
	}
	return least >= 100 && handlers >= (rt_under_qemu() ? 2000 : 8000) && in_calls >= 160 &&
	       operations >= 1000;
}

TEST(storm_of_signals, 60)
{
	uint64_t handlers = 0, in_calls = 0, operations = 0, time;
	struct rt_thread *threads[THREADS];
	unsigned seconds = rt_in_full() || rt_under_qemu() ? SECONDS : FEW_SECONDS;
	struct ash_statistics st;

	find_sizes();
	rt_signal(SIGALRM, handler);
	time = rt_now();
	for (unsigned i = 0; i < THREADS; i++) {
		workers[i].number = i;
		threads[i] = NOT_NULL(rt_thread_start(worker_body, &workers[i]));
	}
	/* As long as that (make test: a few of them, natively), and until each had a storm of its own. */
	do
		rt_sleep((uint64_t)seconds * 1000000000u);
	while (!stormy());
	/* First these: where handlers leave a thread no time, it would not see the other. */
	end_timers();
	time = (rt_now() - time) / 1000000;
	atomic_store(&done, true);
	for (unsigned i = 0; i < THREADS; i++) {
		rt_thread_join(threads[i]);
		handlers += workers[i].handlers;
		in_calls += workers[i].in_calls;
		operations += workers[i].operations;
	}
	rt_print("     storm: %llu handlers, %llu a second, %llu in the midst of a call; "
		 "%llu operations beside them\n",
		 (unsigned long long)handlers, (unsigned long long)(handlers * 1000 / time),
		 (unsigned long long)in_calls, (unsigned long long)operations);
	CHECK_EQ(ash_check(), 0);
	release_all();
	stamp_check_nothing_left();
	ash_stats(&st);
	CHECK_EQ(st.pending, 0);
	CHECK(st.owners <= THREADS + 1);
}
