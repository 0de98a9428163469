/* SPDX-License-Identifier: MIT */
/*
 * Threads at work on one heap, under ThreadSanitizer.
 *
 * Blocks are written and read by plain instructions.  They pass between threads by
 * an exchange on a table, or by being allocated after another thread released them.
 * In the second case only the allocator orders one user of a slot before the next,
 * so a missing order is a data race on the block, or on the allocator's records.
 *
 *	stress [seconds]	exits 0 if all checks held
 */
#include "stress.h"

#include "../bench/random.h"

#include "ashlar.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { TABLE = 512, LOCAL = 48, WORKERS = 6, BURST = 3000 };
#define MIB ((size_t)1 << 20)

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

struct block { /* at the start of each */
	uint64_t size, key;
};

static struct block *_Atomic table[TABLE];
static _Atomic bool stop;
static _Atomic uint64_t lives, nested, operations, refused;

#define RELAXED_ADD(counter, n) atomic_fetch_add_explicit(&(counter), (n), memory_order_relaxed)

static void fail(const char *what)
{
	fprintf(stderr, "FAIL tsan: %s\n", what);
	abort();
}

static uint64_t below(uint64_t *state, uint64_t bound)
{
	return next_random(state) % bound;
}

/* Only some bytes of a large block: otherwise filling pages would take all the time. */
static size_t step(size_t size)
{
	return size <= 4096 ? 8 : 4096 - 8;
}

static struct block *fill(void *p, size_t size, uint64_t key)
{
	struct block *b = p;
	size_t i;

	if (p == NULL) {
		RELAXED_ADD(refused, 1);
		return NULL;
	}
	for (i = sizeof *b; i + 8 <= size; i += step(size))
		*(uint64_t *)((char *)p + i) = key + i;
	b->size = size;
	b->key = key;
	return b;
}

static void check_up_to(const struct block *b, size_t size, size_t filled)
{
	size_t i;

	for (i = sizeof *b; i + 8 <= size; i += step(filled))
		if (*(const uint64_t *)((const char *)b + i) != b->key + i)
			fail("a block is not as it was filled");
}

static void let_go(struct block *b)
{
	check_up_to(b, b->size, b->size);
	ash_release(b);
}

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

static struct block *trade(struct block *b, uint64_t *r)
{
	/* Acquire and release: what a program must do to pass a block on. */
	b = atomic_exchange_explicit(&table[below(r, TABLE)], b, memory_order_acq_rel);
	if (b != NULL)
		check_up_to(b, b->size, b->size);
	return b;
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
			blocks[i] = trade(blocks[i], r);
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
	depth++;
	if (random == 0)
		random = (uint64_t)(uintptr_t)&random | 1;
	for (i = 0; i < 6; i++) {
		size_t size = 16 + below(&random, (uint64_t)16 << below(&random, 6));

		b = fill(ash_alloc(size), size, next_random(&random));
		if (b != NULL)
			b = trade(b, &random);
		if (b != NULL)
			let_go(b);
	}
	RELAXED_ADD(nested, 1);
	depth--;
}

static void *work(void *argument)
{
	uint64_t random = (uint64_t)(uintptr_t)argument, n, count = 2000 + below(&random, 6000);
	struct block *local[LOCAL] = {NULL};
	size_t i;

	for (n = 0; n < count; n++) {
		struct block **mine = &local[below(&random, LOCAL)];
		uint64_t what = below(&random, 1024);

		if (what == 0)
			burst(&random);
		else if (what == 1)
			(void)ash_trim(below(&random, 2) * MIB);
		else if (what == 2)
			ash_thread_detach(); /* and goes on with another record */
		else if (*mine == NULL)
			*mine = make(&random);
		else if (what < 400)
			let_go(*mine), *mine = NULL;
		else if (what < 500)
			*mine = change(*mine, &random);
		else
			*mine = trade(*mine, &random);
	}
	for (i = 0; i < LOCAL; i++) {
		struct block *b = trade(local[i], &random);

		if (b != NULL)
			let_go(b);
	}
	RELAXED_ADD(operations, count);
	RELAXED_ADD(lives, 1);
	ash_thread_detach();
	return NULL;
}

/* Runs ash_check and ash_stats while the other threads work. */
static void *look(void *argument)
{
	struct ash_statistics stats;
	struct timespec pause = {0, 2000000};

	while (!atomic_load(&stop)) {
		if (ash_check() != 0)
			fail("ash_check while others work");
		ash_stats(&stats);
		nanosleep(&pause, NULL);
	}
	ash_thread_detach();
	return argument;
}

static pthread_t start(void *(*body)(void *), uint64_t seed)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, body, (void *)(uintptr_t)seed) != 0)
		fail("pthread_create");
	return thread;
}

int main(int argc, char **argv)
{
	time_t end = time(NULL) + (argc > 1 ? atoi(argv[1]) : 10);
	pthread_t workers[WORKERS], looker = start(look, 0);
	struct ash_statistics stats;
	uint64_t seed = 88172645463325252u;
	size_t i;

	for (i = 0; i < WORKERS; i++)
		workers[i] = start(work, next_random(&seed) | 1);
	/* The threads end one after the other; each time a new one takes the record over. */
	for (i = 0; time(NULL) < end; i = (i + 1) % WORKERS) {
		pthread_join(workers[i], NULL);
		workers[i] = start(work, next_random(&seed) | 1);
	}
	for (i = 0; i < WORKERS; i++)
		pthread_join(workers[i], NULL);
	atomic_store(&stop, true);
	pthread_join(looker, NULL);
	for (i = 0; i < TABLE; i++)
		if (table[i] != NULL)
			let_go(table[i]);
	(void)ash_trim(0);
	if (ash_check() != 0)
		fail("ash_check at the end");
	ash_stats(&stats);
	if (stats.blocks != 0)
		fail("blocks are left");
	printf("%llu operations, %llu lives of threads, %llu calls interrupted, %llu refused, "
	       "%zu owners, %zu MiB left reserved\n",
	       (unsigned long long)operations, (unsigned long long)lives,
	       (unsigned long long)nested, (unsigned long long)refused, stats.owners,
	       stats.reserved / MIB);
	return 0;
}
