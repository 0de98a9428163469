/* SPDX-License-Identifier: MIT */
/*
 * What others emptied is purged, and its owner takes it again, in a system whose k-th call fails with one
 * error or another, for each k: no old byte is read as zero, no block is given out twice, none is missing.
 */
/* promises: ash_release, ash_trim, ash_zalloc */
#include "program/audit.h"
#include "program/faults.h"

enum { SLEEPERS = 2, ROUNDS = 3, MOST = 4000 };
static const size_t block_sizes[] = {500, 9000, 30000, 100000};
enum { BLOCK_SIZES = sizeof block_sizes / sizeof *block_sizes };

static unsigned char *block[SLEEPERS][MOST];
static size_t count[SLEEPERS], size_now;
static struct rt_barrier all;

/* As many as fill more than what may stay. */
static void fills(size_t me)
{
	size_t i, k, bytes = 5 * MIB;

	for (i = 0; i < bytes / size_now && i < MOST; i++) {
		size_t failed = faults.failed;
		unsigned char *p = i % 2 == 0 ? ash_zalloc(1, size_now) : ash_alloc(size_now);

		CHECK(p != NULL || faults.failed > failed);
		for (k = 0; p != NULL && i % 2 == 0 && k < size_now; k += 64)
			CHECK_EQ(p[k], 0);
		if (p != NULL)
			memset(p, (int)(i % 250 + 1), size_now);
		block[me][i] = p;
	}
	count[me] = i;
}

static void releases(size_t of, size_t keep_each)
{
	for (size_t i = 0; i < count[of]; i++) {
		unsigned char *p = block[of][i];

		if (p == NULL || (keep_each != 0 && i % keep_each == 0))
			continue;
		CHECK_EQ(p[0], i % 250 + 1);
		CHECK_EQ(p[size_now / 2], i % 250 + 1);
		CHECK_EQ(p[size_now - 1], i % 250 + 1);
		ash_release(p);
		block[of][i] = NULL;
	}
}

static void sleeper(void *argument)
{
	size_t me = (size_t)(uintptr_t)argument;

	for (unsigned n = 0; n < BLOCK_SIZES * ROUNDS; n++) {
		rt_barrier_wait(&all);
		for (unsigned turn = 0; turn < SLEEPERS; turn++) { /* one thread at a time: calls are counted */
			if (turn == me)
				fills(me);
			rt_barrier_wait(&all);
		}
		rt_barrier_wait(&all); /* until all is released */
	}
	for (unsigned turn = 0; turn < SLEEPERS; turn++) {
		if (turn == me)
			ash_thread_detach();
		rt_barrier_wait(&all);
	}
}

static size_t purges;

static void counts_purges(UNUSED void *address)
{
	purges++;
}

static void run(UNUSED void *argument)
{
	struct rt_thread *t[SLEEPERS];

	all.count = SLEEPERS + 1;
	ash_release(ash_alloc(1));
	for (size_t i = 0; i < SLEEPERS; i++)
		t[i] = rt_thread_start(sleeper, (void *)i);
	faults.in_advice = counts_purges;
	faults.armed = true;
	for (unsigned n = 0; n < BLOCK_SIZES * ROUNDS; n++) {
		size_now = block_sizes[n / ROUNDS];
		rt_barrier_wait(&all);
		for (unsigned turn = 0; turn < SLEEPERS; turn++)
			rt_barrier_wait(&all);
		releases(0, n % ROUNDS == 1 ? 50 : 0);
		releases(1, 0);
		if (n % ROUNDS == 1)
			(void)ash_trim(0);
		releases(0, 0);
		rt_barrier_wait(&all);
	}
	for (unsigned turn = 0; turn < SLEEPERS; turn++)
		rt_barrier_wait(&all);
	faults.armed = false;
	rt_threads_join(t, SLEEPERS);
	audit();
	(void)ash_trim(0);
	audit();
	/* Nothing is missing, but what a refused munmap or a lost move costs. */
	faults.failed = 0;
	for (size_t size = 1; size < 100 * MIB; size *= 3)
		ash_release(NOT_NULL(ash_alloc(size)));
	audit();
}

static void count_calls(UNUSED void *argument)
{
	run(NULL);
	rt_fprint(2, "%zu", faults.calls);
	CHECK(purges > 20);
}

static void fail_each(size_t failing, size_t step)
{
	faults_at_each_call(run, count_calls, failing, step);
}

TEST_CALL(faults_foreign_one_call, 600, fail_each(1, rt_under_qemu() ? 101 : rt_in_full() ? 1 : 29));
TEST_CALL(faults_foreign_all_calls_from_there, 600, fail_each(SIZE_MAX / 2, rt_under_qemu() ? 211 : rt_in_full() ? 2 : 67));
