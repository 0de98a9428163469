/* SPDX-License-Identifier: MIT */
/*
 * The fork generation comes round: a holder word has 26 bits of it.  The processes before and behind
 * the last one of a round, and each one's child: what vanished threads held is taken over, and nothing else.
 */
/* promises: ash_alloc, ash_release */
#include "process.h"
#include "program/audit.h"
#include "support/wrap.h"
#include "syscall.h"
#include "thread/seat.h"
#include "thread/seating.h"

static uint64_t *last_mark;

WRAP(uint64_t *, process_mark, (void))
{
	return last_mark = __real_process_mark();
}

static struct owner *forks, *vanished, *runs;
static struct rt_barrier together;
static void *vanisheds; /* a block of it */

static void works(void)
{
	for (size_t size = 8; size < 100000; size += size / 2)
		ash_release(NOT_NULL(ash_alloc(size)));
}

static void vanishes(UNUSED void *argument)
{
	works();
	vanisheds = NOT_NULL(ash_alloc(100));
	vanished = seat.self;
	rt_barrier_wait(&together);
	rt_barrier_wait(&together);
}

/* Started by the child before the thread that forked looks: that one's record is no other's. */
static void starts_early(UNUSED void *argument)
{
	works();
	runs = seat.self;
	CHECK(runs != forks && runs != vanished);
	CHECK(load_acquire(&forks->state) != OWNER_VACANT);
	CHECK(load_acquire(&vanished->state) != OWNER_VACANT);
	rt_barrier_wait(&together);
	rt_barrier_wait(&together);
	CHECK(seat.self == runs && load_acquire(&runs->state) != OWNER_VACANT);
	works();
}

static void ends(UNUSED void *argument)
{
	works();
	(void)arch_exit(0); /* past the runtime's ash_thread_detach */
}

/* A process with two threads forks; `more` such forks below it. */
static void generation(unsigned more)
{
	struct rt_thread *thread;

	together = (struct rt_barrier){.count = 2};
	thread = rt_thread_start(vanishes, NULL);
	rt_barrier_wait(&together);
	works();
	forks = seat.self;
	IN_CHILD {
		together = (struct rt_barrier){.count = 2};
		thread = rt_thread_start(starts_early, NULL);
		rt_barrier_wait(&together);
		works();
		ash_release(ash_alloc(9000));
		CHECK(seat.self == forks);
		CHECK_EQ(load_acquire(&vanished->state), OWNER_VACANT);
		CHECK(load_acquire(&runs->state) != OWNER_VACANT);
		ash_release(vanisheds);
		rt_barrier_wait(&together);
		rt_thread_join(thread);
		audit();
		rt_in_thread(ends, NULL);
		CHECK_EQ(reap_all(&heap_default, seat.self), 1);
		if (more > 0)
			generation(more - 1);
	}
	rt_barrier_wait(&together);
	rt_thread_join(thread);
	works();
	audit();
}

TEST(generation_comes_round, 60)
{
	const uint64_t most = ((uint64_t)1 << GENERATION_BITS) - 1;

	if (rt_under_qemu())
		rt_skip("QEMU 7.2 aborts when a forked child of a threaded process starts a thread");
	generation_watch();
	CHECK_EQ(generation_now(), 0);
	/* As if there had been so many forks before the first call. */
	store_relaxed(last_mark, (most - 2) << 23 | PROCESS_UNKNOWN);
	CHECK_EQ(generation_now(), most - 2);
	generation(5);
}
