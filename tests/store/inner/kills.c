/* SPDX-License-Identifier: MIT */
/*
 * Four processes of two threads work in one heap and are killed at random
 * moments; others take their places.
 *
 *   tables   what each thread holds, in memory that the parent sees
 *   board    where threads leave blocks for others to release
 *
 * Every so many kills all of them pause between two calls, and the books are
 * compared: what the dead left can be told from what the living hold.
 */
#include "ashlar_heap.h"
#include "support/blocks.h"
#include "support/stamp.h"

#include "syscall.h"

enum { SIGKILL = 9, WORKERS = 4, THREADS = 2, HELD = 64, BOARD = 32, ROUND = 20 };
enum { PR_SET_PDEATHSIG = 1 };

static ash_heap *heap;
static struct control {
	_Atomic uint64_t progress[WORKERS][THREADS];
	_Atomic uint64_t paused[WORKERS][THREADS]; /* the pause that the thread has seen */
	_Atomic uint64_t pause;			   /* odd: pause                         */
	uint64_t table[WORKERS][THREADS][HELD];	   /* stamps                             */
	_Atomic uint64_t board[BOARD];
} *control;

static unsigned my_place;

/* ---- the workers ---- */

static uint64_t some_block(struct rt_random *r)
{
	size_t size = stamp_random_size(r, true);
	bool zero = rt_below(r, 4) == 0;
	uint64_t *p = zero ? ash_heap_zalloc(heap, 1, size) : ash_heap_alloc(heap, size);

	if (p == NULL)
		return 0; /* the dead may have left it full */
	for (size_t i = 0; zero && i < size / 8; i += stamp_step(size / 8, i))
		CHECK_EQ(p[i], 0);
	return stamp_set(p, size, rt_next(r));
}

static void some_resize(struct rt_random *r, uint64_t *slot)
{
	size_t before = stamp_size(*slot), size = stamp_random_size(r, true);
	uint64_t was = *slot;
	void *p;

	stamp_check(was);
	*slot = 0; /* in flight: neither address is certain */
	p = ash_heap_resize(heap, stamp_block(was), size);
	if (p == NULL) {
		*slot = was;
		return;
	}
	stamp_check_some((uintptr_t)p >> 3 | (was >> STAMP_SHIFT) << STAMP_SHIFT, before, before < size ? before : size);
	*slot = stamp_set(p, size, rt_next(r));
}

/* Leaves a block for others, and releases what was there. */
static void exchange(struct rt_random *r)
{
	_Atomic uint64_t *place = &control->board[rt_below(r, BOARD)];
	uint64_t stamp = *place;

	/* No other process has it once it is off the board. */
	if (__c11_atomic_compare_exchange_strong(place, &stamp, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST) &&
	    stamp != 0)
		stamp_release(stamp);
	stamp = some_block(r);
	if (stamp != 0 && (stamp = __c11_atomic_exchange(place, stamp, __ATOMIC_SEQ_CST)) != 0)
		stamp_release(stamp);
}

static void operate(struct rt_random *r, uint64_t *slot)
{
	if (*slot == 0) {
		*slot = some_block(r);
	} else if (rt_below(r, 8) == 0) {
		some_resize(r, slot);
	} else {
		uint64_t stamp = *slot;

		*slot = 0;
		stamp_release(stamp);
	}
}

static void worker_main(void *argument)
{
	unsigned t = (unsigned)(uintptr_t)argument;
	uint64_t *table = control->table[my_place][t], epoch;
	struct rt_random r;

	rt_seed(&r, rt_now() + t);
	for (;;) {
		epoch = control->pause;
		if ((epoch & 1) != 0) {
			control->paused[my_place][t] = epoch;
			rt_sleep(200000);
			continue;
		}
		operate(&r, &table[rt_below(&r, HELD)]);
		if (rt_below(&r, 4) == 0)
			exchange(&r);
		if (rt_below(&r, 300) == 0)
			(void)ash_heap_recover(heap);
		if (rt_below(&r, 1000) == 0)
			(void)ash_heap_trim(heap, 0);
		control->progress[my_place][t]++;
	}
}

static long worker_start(unsigned place)
{
	long pid;

	memset(control->table[place], 0, sizeof control->table[place]);
	pid = rt_fork();
	if (pid != 0) {
		CHECK(pid > 0);
		return pid;
	}
	arch_prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	my_place = place;
	CHECK(rt_thread_start(worker_main, (void *)1) != NULL); /* NOLINT: a number */
	worker_main(NULL);
	rt_exit(1);
}

/* ---- the books ---- */

static size_t listed, listed_bytes, strays, dead_blocks;
static uint64_t dead[4 * ROUND], dead_count;
static void *stray[4 * ROUND];

static bool is_listed(const void *p)
{
	const uint64_t *stamp = &control->table[0][0][0];
	size_t i;

	for (i = 0; i < sizeof control->table / sizeof *stamp; i++)
		if (stamp[i] != 0 && stamp_block(stamp[i]) == p) {
			stamp_check(stamp[i]);
			return true;
		}
	return false;
}

static int visit(UNUSED void *context, void *p, size_t size, const struct ash_heap_owner *owner)
{
	size_t i;

	CHECK(owner->id != 0);
	if (owner->live && is_listed(p)) {
		listed++;
		listed_bytes += size;
	} else if (owner->live) {
		/* Allocated by one who lives; who took it off the board was killed. */
		CHECK(strays < 4 * ROUND);
		stray[strays++] = p;
	} else {
		CHECK(!is_listed(p));
		dead_blocks++;
		for (i = 0; i < dead_count && dead[i] != owner->id; i++)
			;
		CHECK(i < 4 * ROUND);
		dead[i] = owner->id;
		dead_count += i == dead_count;
	}
	return 0;
}

static size_t compare_books(void)
{
	size_t i, released = 0;

	for (i = 0; i < BOARD; i++)
		if (control->board[i] != 0) {
			stamp_release(control->board[i]);
			control->board[i] = 0;
		}
	(void)ash_heap_recover(heap);
	CHECK_EQ(ash_heap_check(heap), 0);
	listed = listed_bytes = strays = dead_blocks = dead_count = 0;
	(void)ash_heap_walk(heap, visit, NULL);
	CHECK(strays <= (size_t)ROUND * THREADS);
	for (i = 0; i < strays; i++)
		ash_heap_release(heap, stray[i]);
	for (i = 0; i < dead_count; i++)
		released += ash_heap_release_owner(heap, dead[i]);
	CHECK_EQ(released, dead_blocks);
	CHECK_EQ(ash_heap_check(heap), 0);
	CHECK_EQ(stats_of(heap).blocks, listed);
	CHECK_EQ(stats_of(heap).block_bytes, listed_bytes);
	return released;
}

static void wait_for(_Atomic uint64_t *word, uint64_t beyond)
{
	while (*word <= beyond) /* or it hangs, and the test's limit ends it */
		rt_sleep(100000);
}

static size_t pause_and_compare(void)
{
	uint64_t epoch = control->pause + 1;
	size_t n;
	unsigned w, t;

	control->pause = epoch;
	for (w = 0; w < WORKERS; w++)
		for (t = 0; t < THREADS; t++)
			wait_for(&control->paused[w][t], epoch - 1);
	n = compare_books();
	control->pause = epoch + 1;
	return n;
}

TEST(kills_at_random, 240)
{
	unsigned kills = rt_in_full() ? 200 : 30, k, w, t;
	long pid[WORKERS], at = arch_mmap(NULL, sizeof *control, 3, 0x21, -1, 0);
	size_t released = 0;
	struct rt_random r;

	CHECK(at > 0);
	control = (void *)at; /* NOLINT: the kernel's word is an address */
	heap = NOT_NULL(ash_heap_create_shared((size_t)256 << 20, NULL));
	rt_seed(&r, rt_test_seed());
	for (w = 0; w < WORKERS; w++)
		pid[w] = worker_start(w);
	for (k = 1; k <= kills; k++) {
		uint64_t before[WORKERS][THREADS];

		rt_sleep((rt_under_qemu() ? 20000000 : 1000000) + rt_below(&r, 4000000));
		w = (unsigned)rt_below(&r, WORKERS);
		CHECK_EQ(arch_kill(pid[w], SIGKILL), 0);
		CHECK_EQ(rt_wait(pid[w]), 1000 + SIGKILL);
		for (unsigned i = 0; i < WORKERS; i++)
			for (t = 0; t < THREADS; t++)
				before[i][t] = control->progress[i][t];
		pid[w] = worker_start(w);
		for (unsigned i = 0; i < WORKERS; i++)
			for (t = 0; t < THREADS; t++)
				wait_for(&control->progress[i][t], before[i][t]);
		if (k % ROUND == 0)
			released += pause_and_compare();
	}
	for (w = 0; w < WORKERS; w++) {
		CHECK_EQ(arch_kill(pid[w], SIGKILL), 0);
		CHECK_EQ(rt_wait(pid[w]), 1000 + SIGKILL);
	}
	memset(control->table, 0, sizeof control->table);
	released += compare_books();
	rt_print("     kills: %u, %zu blocks of the dead released, books exact %u times\n", kills,
		 released, kills / ROUND + 1);
}
