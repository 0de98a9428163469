/* SPDX-License-Identifier: MIT */
/*
 * A heap is destroyed when no thread is in a call on it any more, and while those that worked in it end:
 * each seat is emptied by its thread or by the one that destroys the heap, and the threads' benches go to others.
 */
#include "stress.h"

#include "../bench/random.h"

#include "ashlar.h"
#include "ashlar_heap.h"

#include <pthread.h>
#include <sched.h>

enum { VISITORS = 3 };

struct visited {
	struct ash_heap *heap;
	_Atomic unsigned done;
	uint64_t seed;
};

static void work_in(struct ash_heap *h, uint64_t *r)
{
	struct block *blocks[48];
	size_t i, n = 1 + below(r, 48), size = turn_size(r);

	for (i = 0; i < n; i++)
		blocks[i] = fill(ash_heap_alloc(h, size), 64, next_random(r));
	for (i = 0; i < n; i++)
		if (blocks[i] != NULL && below(r, 8) != 0) /* the others go with the heap */
			let_go(blocks[i]);
}

static void *visitor(void *argument)
{
	struct visited *v = argument;
	uint64_t random = v->seed + (uint64_t)(uintptr_t)&random; /* its stack is its own */

	stress_began();
	work_in(v->heap, &random);
	atomic_fetch_add_explicit(&v->done, 1, memory_order_release);
	if (below(&random, 4) != 0)
		ash_thread_detach(); /* its seat in the heap is emptied by it, or by who destroys the heap */
	stress_ended();
	return NULL;
}

void turn_gone(uint64_t *r)
{
	struct visited v = {.seed = next_random(r)};
	pthread_t threads[VISITORS];
	unsigned i;

	if (atomic_load_explicit(&heap, memory_order_relaxed) == NULL)
		return; /* the first half is without hooks */
	v.heap = ash_heap_create(NULL);
	if (v.heap == NULL)
		return;
	for (i = 0; i < VISITORS; i++)
		if (pthread_create(&threads[i], NULL, visitor, &v) != 0)
			fail("pthread_create");
	work_in(v.heap, r);
	while (atomic_load_explicit(&v.done, memory_order_acquire) < VISITORS)
		sched_yield();
	ash_heap_destroy(v.heap);
	for (i = 0; i < VISITORS; i++)
		pthread_join(threads[i], NULL);
}
