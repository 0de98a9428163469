/* SPDX-License-Identifier: MIT */
/*
 * Looks at a program of several threads at full speed.  In some classes nothing happens: their
 * rows are exact, each time.  In others each thread has at most LIVE blocks that come and go, also to other threads.
 * Their rows count at least the blocks that stay, and at most LIVE for each thread beside these, except for slots that the
 * look says have changed.  The looks change nothing in the program.
 */
#include "program/look_target.h"
#include "support/blocks.h"

enum { SPEED_THREADS = 8, LIVE = 200, STAY = 4000, QUIET_CLASSES = 3, BUSY_CLASSES = 4 };

static const size_t quiet_sizes[QUIET_CLASSES] = {272, 5000, 40000};
static const size_t busy_sizes[BUSY_CLASSES] = {16, 64, 1000, 3000};

/* Blocks on their way to another thread. */
static void *on_the_way[SPEED_THREADS];

static void stamp(void *p, size_t size)
{
	memset(p, (int)(size & 0xff), size);
}

static bool is_stamped(const unsigned char *p, size_t size)
{
	return p[0] == (size & 0xff) && p[size / 2] == (size & 0xff) && p[size - 1] == (size & 0xff);
}

static void busy(void *number)
{
	void *mine[LIVE] = {NULL};
	size_t bytes[LIVE], me = (size_t)(uintptr_t)number;
	uint64_t operations = 0;
	struct rt_random r;
	unsigned i;

	rt_seed(&r, rt_test_seed() + me);
	while (!book->go) {
		void *theirs;

		i = (unsigned)rt_below(&r, LIVE);
		if (mine[i] != NULL) {
			book->fault |= !is_stamped(mine[i], bytes[i]);
			ash_release(mine[i]);
		}
		bytes[i] = busy_sizes[rt_below(&r, BUSY_CLASSES)];
		mine[i] = ash_alloc(bytes[i]);
		if (mine[i] == NULL) {
			book->fault |= 2;
			break;
		}
		stamp(mine[i], bytes[i]);
		if (rt_below(&r, 8) == 0) { /* another thread releases it */
			theirs = __atomic_exchange_n(&on_the_way[rt_below(&r, SPEED_THREADS)], mine[i],
						     __ATOMIC_ACQ_REL);
			mine[i] = NULL;
			ash_release(theirs);
		}
		operations++;
		/* The emulator's threads share a CPU or two: looks need some, too. */
		if (rt_under_qemu() && operations % 512 == 0)
			rt_yield();
	}
	release_each(mine, LIVE);
	__atomic_fetch_add(&book->operations, operations, __ATOMIC_RELAXED);
}

static void speed_target(void)
{
	static unsigned char *stay[STAY];
	static struct rt_thread *t[SPEED_THREADS];
	size_t size, i;

	for (i = 0; i < STAY; i++) {
		size = i % 2 == 0 ? quiet_sizes[i / 2 % QUIET_CLASSES] : busy_sizes[i / 2 % BUSY_CLASSES];
		stay[i] = NOT_NULL(ash_alloc(size));
		stamp(stay[i], size);
		book->taken[class_of(ash_good_size(size))]++;
	}
	for (i = 0; i < SPEED_THREADS; i++)
		t[i] = rt_thread_start(busy, (void *)(uintptr_t)i);
	book->ready = 1;
	rt_threads_join(t, SPEED_THREADS);
	release_each(on_the_way, SPEED_THREADS);
	for (i = 0; i < STAY; i++) {
		size = i % 2 == 0 ? quiet_sizes[i / 2 % QUIET_CLASSES] : busy_sizes[i / 2 % BUSY_CLASSES];
		book->fault |= is_stamped(stay[i], size) ? 0 : 4;
		ash_release(stay[i]);
	}
	(void)ash_trim(0);
	ash_stats(&book->stats);
	book->fault |= ash_check() == 0 && book->stats.blocks == 0 ? 0 : 8;
}

static void row_is_right(size_t size, bool quiet)
{
	size_t stays = book->taken[class_of(ash_good_size(size))], most = SPEED_THREADS * (LIVE + 1);
	size_t taken, changed;

	size = ash_good_size(size);
	taken = look_row(size, "taken");
	changed = look_row(size, "changed");
	if (quiet) {
		CHECK_EQ(taken, stays);
		CHECK_EQ(changed, 0);
		CHECK_EQ(look_row(size, "released"), 0);
		return;
	}
	CHECK(taken + changed >= stays);
	CHECK(taken <= stays + most + changed);
	CHECK_EQ(look_row(size, "slots"), taken + look_row(size, "free") + look_row(size, "released"));
}

static void look_at_speed(unsigned looks)
{
	unsigned i, k;
	size_t changed = 0;
	long pid;

	book_make();
	pid = target_start(speed_target);
	/* On a busy machine a look may see its target not run: more looks then, until one saw it change. */
	for (i = 0; i < looks || changed == 0; i++) {
		CHECK_EQ(look_process(pid, "--json"), 0);
		CHECK_EQ(look_figure(look_text, "damaged"), 0);
		changed += look_figure(look_text, "changed_slots");
		for (k = 0; k < QUIET_CLASSES; k++)
			row_is_right(quiet_sizes[k], true);
		for (k = 0; k < BUSY_CLASSES; k++)
			row_is_right(busy_sizes[k], false);
	}
	/* Stopped for a moment, it is shown exactly, and goes on. */
	for (i = 0; i < 3 && !rt_under_qemu(); i++) {
		look_stopped(pid);
		CHECK(rt_strstr(look_text, "\"exact\": true") != NULL);
		CHECK_EQ(look_figure(look_text, "damaged"), 0);
		for (k = 0; k < BUSY_CLASSES; k++)
			row_is_right(busy_sizes[k], false);
	}
	book->go = 1;
	CHECK_EQ(rt_wait(pid), 0);
	CHECK_EQ(book->fault, 0);
	CHECK(book->operations > 0);
}

TEST_CALL(look_at_full_speed, 600, look_at_speed(rt_in_full() ? 1000 : rt_under_qemu() ? 4 : 8));
