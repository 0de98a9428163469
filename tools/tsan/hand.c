/* SPDX-License-Identifier: MIT */
/*
 * Blocks are handed to threads that release them, and of these nothing comes back but by the allocator:
 * the giver reads the table by relaxed loads.  So what a call still reads after the release that ended
 * a slab, or its chunk, is ordered before their next use by nothing, and has to be atomic.  In stress.c's
 * mixture chunks seldom become free, and the threads learn of each other by each block that they trade.
 */
#include "stress.h"

#include "../bench/random.h"

#include "ashlar.h"

#include <pthread.h>
#include <sched.h>

enum { HANDED = 512, HANDS = 2, ROUNDS = 60 };

static void *_Atomic handed[HANDED];
static _Atomic bool done;

static void *hand(void *argument)
{
	size_t i;

	stress_began();
	for (; !atomic_load_explicit(&done, memory_order_relaxed); sched_yield())
		for (i = 0; i < HANDED; i++)
			if (atomic_load_explicit(&handed[i], memory_order_relaxed) != NULL)
				ash_release(atomic_exchange_explicit(&handed[i], NULL, memory_order_acquire));
	ash_thread_detach();
	stress_ended();
	return argument;
}

/* Some blocks of a slab are released by who allocated them. */
static void give(uint64_t *r)
{
	size_t size = below(r, 4) == 0 ? MIB : turn_size(r), n = 1 + below(r, size > 32768 ? 4 : HANDED), i;
	void *blocks[HANDED];

	for (i = 0; i < n; i++)
		blocks[i] = ash_alloc(size);
	for (i = 0; i < n; i++)
		if (below(r, 4) != 0)
			atomic_store_explicit(&handed[i], blocks[i], memory_order_release);
		else
			ash_release(blocks[i]);
}

/* Its record is vacant when the blocks are released, or may be taken over. */
static void *give_and_end(void *argument)
{
	uint64_t *r = argument;

	stress_began();
	give(r);
	if (below(r, 2) == 0)
		ash_thread_detach();
	stress_ended();
	return NULL;
}

static void use_again(uint64_t *r)
{
	size_t size = below(r, 2) == 0 ? MIB + MIB / 2 : turn_size(r), n = 1 + below(r, 8), i;
	void *blocks[8];

	for (i = 0; i < n; i++)
		blocks[i] = ash_alloc(size);
	while (n > 0)
		ash_release(blocks[--n]);
}

void hands(uint64_t *r)
{
	pthread_t threads[HANDS], giver;
	size_t i, round;

	atomic_store(&done, false);
	for (i = 0; i < HANDS; i++)
		if (pthread_create(&threads[i], NULL, hand, NULL) != 0)
			fail("pthread_create");
	for (round = 0; round < ROUNDS; round++) {
		if (below(r, 4) != 0)
			give(r);
		else if (pthread_create(&giver, NULL, give_and_end, r) != 0 || pthread_join(giver, NULL) != 0)
			fail("pthread_create");
		for (i = 0; i < HANDED; i++)
			while (atomic_load_explicit(&handed[i], memory_order_relaxed) != NULL)
				sched_yield();
		if (below(r, 4) != 0)
			(void)ash_trim(below(r, 2) * 4 * MIB);
		use_again(r);
	}
	atomic_store(&done, true);
	for (i = 0; i < HANDS; i++)
		pthread_join(threads[i], NULL);
}
