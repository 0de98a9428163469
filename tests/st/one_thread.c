/* SPDX-License-Identifier: MIT */
/* The library for programs of one thread: the same promises without a locked instruction. */
#include <ashlar_heap.h>
#include <ashlar_names.h>

#include "support/handler_at_step.h"
#include "support/stamp.h"

enum { SIGALRM = 14, LIVE = 2000, OWN = 8 };

static void release_twice(void *p)
{
	ash_release(p);
	ash_release(p);
}

TEST(st_double_free, 10)
{
	char text[256];
	void *p = ash_alloc(50), *other = ash_alloc(50);

	CHECK_EQ(rt_run_child(release_twice, p, text, sizeof text), 1000 + 4);
	CHECK(rt_strstr(text, "double free") != NULL);
	ash_release(other);
	ash_release(p);
}

/* One random call; the number of stamps that are set is what the heap must count. */
static void step(struct rt_random *r, uint64_t *stamps, size_t n)
{
	uint64_t *at = &stamps[rt_below(r, n)], mine = *at;

	*at = 0; /* not to be found by a handler meanwhile */
	if (mine == 0)
		mine = stamp_alloc(r, true);
	else if (rt_below(r, 4) == 0)
		mine = stamp_resize(mine, stamp_random_size(r, true), rt_next(r));
	else {
		stamp_release(mine);
		mine = 0;
	}
	*at = mine;
}

static size_t count(const uint64_t *stamps, size_t n)
{
	size_t set = 0;

	while (n > 0)
		set += stamps[--n] != 0;
	return set;
}

static void release_all(uint64_t *stamps, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (stamps[i] != 0)
			stamp_release(stamps[i]);
	stamp_check_nothing_left();
}

TEST(st_shadow_model, 60)
{
	static uint64_t stamps[LIVE];
	size_t operations = rt_under_qemu() ? 100000 : 1000000;
	struct rt_random random;
	struct ash_statistics st;

	rt_seed(&random, rt_test_seed());
	for (size_t n = 0; n < operations; n++) {
		/* Waves: many are live, then few. */
		step(&random, stamps, (n >> 16) & 1 ? LIVE / 20 : LIVE);
		if (n % 1000 == 0) {
			CHECK_EQ(ash_check(), 0);
			ash_stats(&st);
			CHECK_EQ(st.blocks, count(stamps, LIVE));
			CHECK_EQ(st.owners, 1);
		}
		if (n % 50000 == 0)
			ash_trim(0);
	}
	release_all(stamps, LIVE);
}

static volatile uint64_t shared[64]; /* both the handler and what it interrupts work on these */
static volatile uint64_t handlers;

/* Atomic, so that a handler falls before or after it. */
static uint64_t exchange(volatile uint64_t *word, uint64_t value)
{
	return __atomic_exchange_n(word, value, __ATOMIC_RELAXED);
}

static void handler(__attribute__((unused)) int number, __attribute__((unused)) void *info,
		    __attribute__((unused)) void *context)
{
	static const size_t sizes[OWN] = {8, 16, 100, 1000, 9000, 33000, 200000, 3 << 20};
	static struct rt_random random;
	uint64_t own[OWN], other;

	if (handlers == 0)
		rt_seed(&random, rt_test_seed());
	for (size_t i = 0; i < OWN; i++) {
		void *p = i % 2 ? ash_alloc(sizes[i]) : ash_zalloc(1, sizes[i]);

		CHECK(p != NULL);
		own[i] = stamp_set(p, sizes[i], rt_next(&random));
	}
	own[1] = stamp_resize(own[1], 777, 3);
	for (size_t i = 0; i < OWN; i++) {
		other = own[i];
		if (i < OWN / 2)
			other = exchange(&shared[rt_below(&random, 64)], other);
		if (other != 0)
			stamp_release(other);
	}
	if (handlers % 16 == 0)
		CHECK_EQ(ash_check(), 0);
	handlers++;
}

TEST(st_handlers_work_the_heap, 60)
{
	static uint64_t stamps[200];
	const size_t enough = rt_under_qemu() ? 200 : 2000;
	uint64_t until = rt_now() + 2000000000, mine;
	struct rt_random random;
	size_t n;

	rt_seed(&random, rt_test_seed() + 1);
	rt_signal(SIGALRM, handler);
	rt_timer(rt_under_qemu() ? 1000 : 100);
	for (n = 0; n % 256 != 0 || rt_now() < until || handlers <= enough; n++) {
		step(&random, stamps, 200);
		mine = exchange(&shared[rt_below(&random, 64)], stamp_alloc(&random, false));
		if (mine != 0)
			stamp_release(mine);
		if (n % 65536 == 65535)
			ash_trim(0);
	}
	rt_timer(0);
	CHECK_EQ(ash_check(), 0);
	for (size_t i = 0; i < 64; i++)
		if (shared[i] != 0)
			stamp_release(shared[i]);
	release_all(stamps, 200);
}

TEST(st_fork, 10)
{
	long child = -1;
	uint64_t mine = stamp_set(ash_alloc(1000), 1000, 1);

	for (int i = 0; i < 10; i++) {
		child = rt_fork();
		if (child == 0) {
			stamp_release(mine);
			stamp_check_nothing_left();
			rt_exit(0);
		}
		CHECK_EQ(rt_wait(child), 0);
	}
	stamp_release(mine);
	stamp_check_nothing_left();
}

static size_t the_size;

static void call_slabs(void)
{
	size_t n = the_size < 100000 ? 7 : 1;
	void *blocks[7];

	for (size_t i = 0; i < n; i++)
		blocks[i] = ash_alloc(the_size);
	for (size_t i = 0; i < n; i++)
		ash_release(blocks[i]);
}

/* Of the same class: what is in the middle of being taken. */
static void act_same_class(void)
{
	uint64_t one = stamp_set(ash_alloc(the_size), the_size, 1), two = 0;

	if (the_size <= 1 << 20) /* a slab and its units, if it makes one */
		two = stamp_set(ash_zalloc(1, 200000), 200000, 2);
	shared[0] = exchange(&shared[1], one);
	if (shared[0] != 0)
		stamp_release(shared[0]);
	if (two != 0)
		stamp_release(two);
}

static void at_each_step(size_t size, size_t stride)
{
	bool more = true;

	the_size = size;
	shared[0] = shared[1] = 0;
	step_begin(act_same_class);
	for (size_t k = 0; more; k += stride) {
		more = with_act_at(k, call_slabs);
		CHECK_EQ(ash_check(), 0);
	}
	if (shared[1] != 0)
		stamp_release(shared[1]);
	stamp_check_nothing_left();
}

TEST(st_handler_at_each_step, 60)
{
	at_each_step(48, rt_under_qemu() ? 1 : rt_in_full() ? 5 : 17);
	at_each_step(12000, rt_under_qemu() ? 7 : rt_in_full() ? 37 : 131);
	at_each_step(200000, rt_under_qemu() ? 1 : rt_in_full() ? 2 : 7);
	at_each_step(3 << 20, rt_under_qemu() ? 3 : rt_in_full() ? 7 : 29);
}

/* Two processes would need locked instructions: no heap that lies. */
TEST(st_shares_nothing, 10)
{
	void *p;

	CHECK(ash_heap_create_shared((size_t)16 << 20, NULL) == NULL);
	CHECK(!init_global_allocator(8));
	p = alloc(100); /* the default heap's */
	CHECK(p != NULL);
	release(p);
	stamp_check_nothing_left();
}
