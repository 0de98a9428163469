/* SPDX-License-Identifier: MIT */
/* Signal handlers that work the heap of the thread they interrupt, by a timer. */
/* promises: ash_alloc, ash_thread_detach, ash_zalloc */
#include "support/stamp.h"

#include <stdatomic.h>

enum { SIGALRM = 14, POOL = 128, OWN = 10 };

/* Blocks of the main thread, of another thread, and of unowned slabs. */
static _Atomic uint64_t pools[2][POOL];
static _Atomic uint64_t handlers, late; /* late: that came when the thread was done */
static _Thread_local bool ending;
static _Atomic unsigned period; /* of the timer, in microseconds; 0: it is stopped */

static void set_timer(unsigned microseconds)
{
	atomic_store(&period, microseconds);
	rt_timer(microseconds);
}

/* Else a handler as long as the period would leave no time between two. */
static void slow_down(uint64_t nanoseconds)
{
	unsigned now = atomic_load(&period);

	if (nanoseconds < (uint64_t)now * 500 || now >= 1000 || !atomic_compare_exchange_strong(&period, &now, 2 * now))
		return;
	rt_timer(2 * now);
	if (atomic_load(&period) == 0) /* stopped meanwhile */
		rt_timer(0);
}
static _Atomic bool done;

static void pool_put(struct rt_random *r, unsigned pool, uint64_t stamp)
{
	stamp = atomic_exchange(&pools[pool][rt_below(r, POOL)], stamp);
	if (stamp != 0)
		stamp_release(stamp);
}

static uint64_t pool_take(struct rt_random *r, unsigned pool)
{
	return atomic_exchange(&pools[pool][rt_below(r, POOL)], 0);
}

static void handler(UNUSED int number, UNUSED void *info, UNUSED void *context)
{
	static const size_t sizes[OWN] = {8,	16,   48,    200,	   1000,
					  3000, 9000, 33000, (size_t)200 << 10, (size_t)3 << 20};
	/* Any thread may be interrupted, two at a time. */
	static _Thread_local struct rt_random random;
	uint64_t own[OWN], other, start = rt_now();

	if (random.state[0] == 0)
		rt_seed(&random, rt_test_seed() + (uintptr_t)&random);
	for (size_t i = 0; i < OWN; i++) {
		void *p = i % 2 ? ash_alloc(sizes[i]) : ash_zalloc(1, sizes[i]);

		CHECK(p != NULL);
		own[i] = stamp_set(p, sizes[i], rt_next(&random));
	}
	for (unsigned pool = 0; pool < 2; pool++) {
		other = pool_take(&random, pool);
		if (other != 0)
			stamp_release(other);
		other = pool_take(&random, pool);
		if (other != 0)
			pool_put(&random, pool,
				 stamp_resize(other, stamp_random_size(&random, false), 7));
	}
	own[2] = stamp_resize(own[2], 5000, 8);
	for (size_t i = 0; i < OWN; i++)
		if (i == OWN - 1 || rt_below(&random, 2))
			stamp_release(own[i]);
		else
			pool_put(&random, (unsigned)rt_below(&random, 2), own[i]);
	if (rt_below(&random, 64) == 0)
		CHECK_EQ(ash_check(), 0);
	atomic_fetch_add(&handlers, 1);
	atomic_fetch_add(&late, ending);
	slow_down(rt_now() - start);
}

/* Random calls on the pool, for that time and until the count is reached, or until told to end. */
static void work(unsigned pool, uint64_t nanoseconds, const _Atomic uint64_t *count, uint64_t enough)
{
	uint64_t until = rt_now() + nanoseconds, mine;
	struct rt_random random;

	rt_seed(&random, rt_test_seed() + pool);
	for (size_t n = 0; !atomic_load(&done); n++) {
		if (n % 256 == 0 && rt_now() >= until && atomic_load(count) > enough)
			break;
		switch (rt_below(&random, 4)) {
		case 0:
			mine = pool_take(&random, pool);
			if (mine != 0)
				stamp_release(mine);
			break;
		case 1:
			mine = pool_take(&random, pool);
			if (mine != 0)
				pool_put(&random, pool,
					 stamp_resize(mine, stamp_random_size(&random, true), n));
			break;
		default:
			pool_put(&random, pool, stamp_alloc(&random, true));
		}
		if (n % 65536 == 65535)
			ash_trim(0);
	}
}

static void other_body(UNUSED void *argument)
{
	work(1, UINT64_MAX / 2, &handlers, 0);
}

/* Every size class and a span or two, in a thread whatever its state. */
static void use_every_class(void)
{
	enum { MOST = 1024 };
	uint64_t *stamps = NOT_NULL(ash_alloc(MOST * sizeof *stamps));
	size_t n = 0;

	for (size_t size = 8; size <= (size_t)3 << 20; size = ash_good_size(size) + 8) {
		void *p;

		if (size > (size_t)1 << 20)
			size += (size_t)1 << 20;
		p = n % 2 ? ash_alloc(size) : ash_zalloc(1, size);
		CHECK(p != NULL && n < MOST);
		stamps[n] = stamp_set(p, size, n);
		n++;
	}
	CHECK(n > 100);
	CHECK_EQ(ash_check(), 0);
	while (n > 0)
		stamp_release(stamps[--n]);
	ash_release(stamps);
	CHECK_EQ(ash_check(), 0);
}

static void use_body(UNUSED void *argument)
{
	use_every_class();
}

static _Noreturn void be_the_child(void)
{
	use_every_class();
	/* QEMU 7.2 itself fails when the child of a process of many threads starts one. */
	if (!rt_under_qemu()) {
		rt_in_thread(use_body, NULL);
	}
	ash_thread_detach();
	use_every_class();
	rt_exit(0);
}

static void release_pools(void)
{
	for (unsigned pool = 0; pool < 2; pool++)
		for (size_t i = 0; i < POOL; i++)
			if (pools[pool][i] != 0) {
				stamp_release(pools[pool][i]);
				pools[pool][i] = 0;
			}
	stamp_check_nothing_left();
}

/* At least so long. */
static uint64_t duration(void)
{
	return rt_in_full() || rt_under_qemu() ? 2000000000 : 500000000;
}

TEST(signal_handlers_work_the_heap, 60)
{
	struct rt_thread *other = rt_thread_start(other_body, NULL);

	rt_signal(SIGALRM, handler);
	set_timer(rt_emulated() ? 1000 : 100);
	work(0, duration(), &handlers, rt_under_qemu() ? 100 : 1000);
	set_timer(0);
	atomic_store(&done, true);
	rt_thread_join(other);
	release_pools();
}

/* Short threads: the handler may be their first call, in their first call or in their last. */
static void short_body(UNUSED void *argument)
{
	struct rt_random random;

	rt_seed(&random, rt_test_seed() + (uintptr_t)&random);
	for (int i = 0; i < 5; i++) {
		pool_put(&random, 0, stamp_alloc(&random, false));
		ending = i == 4;
		ash_thread_detach();
	}
}

TEST(signal_handlers_in_short_threads, 60)
{
	size_t n = rt_emulated() ? 500 : 10000;
	struct ash_statistics st;

	rt_signal(SIGALRM, handler);
	set_timer(rt_emulated() ? 500 : 200);
	for (size_t i = 0; i < n || atomic_load(&handlers) <= 100; i++) {
		struct rt_thread *two[2] = {rt_thread_start(short_body, NULL),
					    rt_thread_start(short_body, NULL)};

		rt_thread_join(two[0]);
		rt_thread_join(two[1]);
	}
	set_timer(0);
	release_pools();
	ash_stats(&st);
	/*
	 * Three threads, each with a record, and two more where it and its handler are
	 * guests.  A handler after a thread's last detach seats it again, for good.
	 */
	CHECK(st.owners <= 9 + atomic_load(&late));
}

static _Atomic uint64_t forks;

static void fork_handler(UNUSED int number, UNUSED void *info, UNUSED void *context)
{
	rt_timer(0);
	IN_CHILD
		be_the_child();
	atomic_fetch_add(&forks, 1);
	rt_timer(rt_emulated() ? 10000 : 1000);
}

TEST(signal_handlers_fork, 60)
{
	struct rt_thread *other = rt_thread_start(other_body, NULL);

	rt_signal(SIGALRM, fork_handler);
	rt_timer(1000);
	work(0, duration(), &forks, 10);
	rt_timer(0);
	atomic_store(&done, true);
	rt_thread_join(other);
	release_pools();
}

TEST(fork_in_the_middle_of_threads, 60)
{
	enum { THREADS = 4 };
	struct rt_thread *threads[THREADS];
	size_t n = rt_in_full() ? 100 : 8;
	uint64_t mine[64];

	for (size_t i = 0; i < THREADS; i++)
		threads[i] = rt_thread_start(other_body, NULL);
	for (size_t i = 0; i < n; i++) {
		struct rt_random random;
		long child;

		rt_seed(&random, i);
		for (size_t k = 0; k < 64; k++)
			mine[k] = stamp_alloc(&random, false);
		child = rt_fork();
		for (size_t k = 0; k < 64; k++)
			stamp_release(mine[k]); /* both have them */
		if (child == 0)
			be_the_child();
		CHECK(child > 0);
		CHECK_EQ(rt_wait(child), 0);
	}
	atomic_store(&done, true);
	rt_threads_join(threads, THREADS);
	release_pools();
}
