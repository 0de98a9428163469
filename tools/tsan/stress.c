/* SPDX-License-Identifier: MIT */
/*
 * Threads at work on one heap, under ThreadSanitizer.
 *
 * Blocks are written and read by plain instructions.  They pass between threads by
 * an exchange on a table, or by being allocated after another thread released them.
 * In the second case only the allocator orders one user of a slot before the next,
 * so a missing order is a data race on the block, or on the allocator's records.
 * Now and then a worker takes a turn (turns.c) that reaches what such a mixture does not.
 * In the second half there are heaps beside the default one, by whose hooks all releases go.
 *
 *	stress [seconds]	exits 0 if all checks held
 */
#include "stress.h"

#include "../bench/random.h"

#include "ashlar.h"
#include "ashlar_heap.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { LOCAL = 48, WORKERS = 6, BURST = 3000 };

/*
 * Little memory is retained and little reserved at a time, so that chunks, regions
 * and their records are made, given back and reused.  TIGHT: memory runs out, too.
 */
const struct ash_defaults ash_defaults = {
	.initial = 2 * MIB,
#ifdef TIGHT
	.cap = 40 * MIB,
#endif
	.retain = 2 * MIB,
	.huge = ASH_HUGE_DEFAULT,
};

static _Atomic bool stop;
static _Atomic uint64_t lives, nested, operations;

static size_t random_size(uint64_t *r)
{
	uint64_t what = below(r, 1000);

	if (what == 0)
		return MIB + 1 + below(r, 6 * MIB);
	if (what < 10)
		return 16 + below(r, 256 << 10);
	return 16 + below(r, (uint64_t)16 << below(r, 9));
}

static struct block *make(uint64_t *r)
{
	size_t size = random_size(r), i;
	uint64_t what = below(r, 8);
	char *p;

	if (what == 0)
		return fill(ash_aligned_alloc((size_t)16 << below(r, 12), size), size,
			    next_random(r));
	if (what > 2)
		return fill(ash_alloc(size), size, next_random(r));
	p = ash_zalloc(1, size);
	for (i = 0; p != NULL && i + 8 <= size; i += step(size))
		if (*(const uint64_t *)(p + i) != 0)
			fail("a zeroed block is not zero");
	return fill(p, size, next_random(r));
}

static struct block *change(struct block *b, uint64_t *r)
{
	size_t before = b->size, size = below(r, 4) == 0 ? random_size(r) : before + before / 4;
	struct block *moved = ash_resize(b, size);

	if (moved == NULL)
		return b;
	check_up_to(moved, before < size ? before : size, before);
	return fill(moved, size, next_random(r));
}

/* Allocates many blocks of one size and releases all: slabs and chunks come and go. */
static void burst(uint64_t *r)
{
	static _Thread_local struct block *blocks[BURST];
	size_t size = 16 + below(r, 2) * below(r, 4000), n = 64 + below(r, BURST - 64), i;

	for (i = 0; i < n; i++)
		blocks[i] = fill(ash_alloc(size), size, i);
	for (i = 0; i < n; i++) {
		if (i % 32 == 0 && blocks[i] != NULL)
			blocks[i] = trade(blocks[i], &table[below(r, TABLE)]);
		if (blocks[i] != NULL)
			let_go(blocks[i]);
	}
}

/*
 * Called in the middle of an allocator call of this thread, as by a signal handler:
 * takes the path of unowned slabs.  Does not nest.
 */
void stress_interrupt(void)
{
	static _Thread_local uint64_t random;
	static _Thread_local int depth;
	struct block *b;
	int i;

	if (depth > 0 || atomic_load_explicit(&stop, memory_order_relaxed))
		return; /* `stop`: the table is being emptied */
	turn_may_end();
	depth++;
	if (random == 0)
		random = (uint64_t)(uintptr_t)&random | 1;
	for (i = 0; i < 6; i++) {
		size_t size = 16 + below(&random, (uint64_t)16 << below(&random, 6));

		b = fill(ash_alloc(size), size, next_random(&random));
		if (b != NULL)
			b = trade(b, &table[below(&random, TABLE)]);
		if (b != NULL)
			let_go(b);
	}
	shared_interrupt(&random);
	RELAXED_ADD(nested, 1);
	depth--;
}

/* Work that needs no memory from the heap. */
static void pause_with(uint64_t *r)
{
	struct block *b = fill(ash_alloc(16 + below(r, 500)), 16, next_random(r));

	if (b != NULL)
		let_go(b);
}

static void *work(void *argument)
{
	uint64_t random = (uint64_t)(uintptr_t)argument, n, count = 2000 + below(&random, 6000);
	struct block *local[LOCAL] = {NULL};
	size_t i;

	stress_began();
	for (n = 0; n < count; n++) {
		struct block **mine = &local[below(&random, LOCAL)];
		uint64_t what = below(&random, 1024);

		if (atomic_load_explicit(&quiet, memory_order_relaxed)) {
			pause_with(&random);
			continue;
		}
		if (what == 0)
			burst(&random);
		else if (what == 1)
			(void)ash_trim(below(&random, 2) * MIB);
		else if (what == 2)
			ash_thread_detach(); /* and goes on with another record */
		else if (what == 3)
			turn(&random);
		else if (*mine == NULL)
			*mine = make(&random);
		else if (what < 400)
			let_go(*mine), *mine = NULL;
		else if (what < 500)
			*mine = change(*mine, &random);
		else
			*mine = trade(*mine, &table[below(&random, TABLE)]);
	}
	for (i = 0; i < LOCAL; i++) {
		struct block *b = trade(local[i], &table[below(&random, TABLE)]);

		if (b != NULL)
			let_go(b);
	}
	RELAXED_ADD(operations, count);
	RELAXED_ADD(lives, 1);
	ash_thread_detach();
	stress_ended();
	return NULL;
}

static int visit(void *context, void *block, size_t size, const struct ash_heap_owner *owner)
{
	(void)block, (void)owner;
	*(size_t *)context += size;
	return 0;
}

/* Looks at the heaps while the other threads work. */
static void *look(void *argument)
{
	struct timespec pause = {0, 2000000};
	struct ash_statistics stats;
	struct ash_block found;
	struct ash_class row;
	size_t turns, bytes = 0;

	stress_began();
	for (turns = 0; !atomic_load(&stop); turns++) {
		struct ash_heap *h = atomic_load(&heap);

		if (ash_check() != 0 || (h != NULL && ash_heap_check(h) != 0))
			fail("ash_check while others work");
		ash_stats(&stats);
		(void)ash_find(atomic_load(&table[turns % TABLE]), &found);
		(void)ash_stats_class(turns % 16, &row);
		if (turns % 16 == 0)
			(void)ash_heap_walk(turns % 32 == 0 ? NULL : h, visit, &bytes);
		if (turns % 16 == 8)
			shared_look();
		nanosleep(&pause, NULL);
	}
	ash_thread_detach();
	stress_ended();
	return argument;
}

static pthread_t start(void *(*body)(void *), uint64_t seed)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, body, (void *)(uintptr_t)seed) != 0)
		fail("pthread_create");
	return thread;
}

static void begin_objects(void)
{
	atomic_store(&heap, ash_heap_create(NULL));
	if (SHARED)
		shared_begin();
}

int main(int argc, char **argv)
{
	time_t seconds = argc > 1 ? atoi(argv[1]) : 10, end = time(NULL) + seconds;
	pthread_t workers[WORKERS], looker = start(look, 0);
	struct ash_statistics stats;
	unsigned deaths;
	uint64_t seed = 88172645463325252u;
	size_t i;

	hands(&seed);
	for (i = 0; i < WORKERS; i++)
		workers[i] = start(work, next_random(&seed) | 1);
	/* The threads end one after the other; each time a new one takes the record over. */
	for (i = 0; time(NULL) < end; i = (i + 1) % WORKERS) {
		pthread_join(workers[i], NULL);
		workers[i] = start(work, next_random(&seed) | 1);
		if (atomic_load(&heap) == NULL && time(NULL) >= end - seconds / 2)
			begin_objects();
	}
	for (i = 0; i < WORKERS; i++)
		pthread_join(workers[i], NULL);
	atomic_store(&stop, true);
	pthread_join(looker, NULL);
	hands(&seed); /* with hooks */
	for (i = 0; i < TABLE; i++)
		if (table[i] != NULL)
			let_go(table[i]);
	deaths = turns_end();
	if (atomic_load(&heap) != NULL)
		ash_heap_destroy(atomic_load(&heap));
	shared_end();
	(void)ash_trim(0);
	if (ash_check() != 0)
		fail("ash_check at the end");
	ash_stats(&stats);
	if (stats.blocks > deaths) /* each loses one at most */
		fail("blocks are left");
	printf("%llu operations, %llu lives of threads, %u ended in calls, %llu calls interrupted, %llu refused, "
	       "%zu owners, %zu MiB left reserved\n",
	       (unsigned long long)operations, (unsigned long long)lives, deaths,
	       (unsigned long long)nested, (unsigned long long)refused, stats.owners,
	       stats.reserved / MIB);
	return 0;
}
