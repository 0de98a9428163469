/* SPDX-License-Identifier: MIT */
/*
 * How often the compare-and-swaps of threads on one class are lost, with a library
 * that counts them (atomic.h beside this file); slabs come and go, and half of
 * the blocks are released by others.
 *
 *	retries owner N [short]    N threads with records of their own
 *	retries shared N [short]   N threads whose seats are empty all the while, as
 *	                           handlers find them in the midst of a call:
 *	                           unowned slabs, swaps alone
 *
 * Prints "name value unit" lines.
 */
#include <stdatomic.h>

#include "ashlar.h"
#include "thread/owner.h"
#include "rt.h"
#include "thread/seat.h"
#include "thread/seating.h"

_Thread_local uint64_t count_swaps, count_lost;

enum { THREADS = 4, BURST = 2000, TABLE = 256, OPERATIONS = 4000000 };

static struct worker {
	_Alignas(128) uint64_t seed, operations, swaps, lost;
	void *live[BURST];
} workers[THREADS];

static struct rt_barrier together;

static void work(struct worker *w)
{
	static void *_Atomic table[TABLE];
	struct rt_random random;
	uint64_t n, i;

	rt_seed(&random, w->seed);
	rt_barrier_wait(&together);
	for (n = 0; n < w->operations / (2 * BURST); n++) {
		for (i = 0; i < BURST; i++)
			w->live[i] = ash_alloc(64);
		for (i = 0; i < BURST; i++) {
			void *p = w->live[i];

			if (i % 2 == 0)
				p = atomic_exchange(&table[rt_below(&random, TABLE)], p);
			ash_release(p);
		}
	}
	w->swaps = count_swaps;
	w->lost = count_lost;
}

static void owner_body(void *argument)
{
	work(argument);
}

static void shared_body(void *argument)
{
	(void)seat_take();
	work(argument);
	seat_give();
}

int main(int argc, char **argv, char **envp)
{
	bool shared = argc > 1 && rt_strcmp(argv[1], "shared") == 0;
	unsigned threads = argc > 2 ? (unsigned)(argv[2][0] - '0') : 0, i;
	uint64_t swaps = 0, lost = 0, each = OPERATIONS;
	struct rt_thread *running[THREADS];

	(void)envp;
	if (threads == 0 || threads > THREADS)
		return 2;
	if (rt_strcmp(argv[argc - 1], "short") == 0)
		each /= 10;
	together.count = threads;
	for (i = 0; i < threads; i++) {
		workers[i].seed = i + 1;
		workers[i].operations = each;
		running[i] = rt_thread_start(shared ? shared_body : owner_body, &workers[i]);
	}
	for (i = 0; i < threads; i++) {
		rt_thread_join(running[i]);
		swaps += workers[i].swaps;
		lost += workers[i].lost;
	}
	rt_print("%s-retries-%u %lu per-million-operations\n", shared ? "shared" : "owner", threads,
		 lost * 1000000 / (each * threads));
	rt_print("%s-swaps-%u %lu per-million-operations\n", shared ? "shared" : "owner", threads,
		 swaps * 1000000 / (each * threads));
	return 0;
}
