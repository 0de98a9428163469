/* SPDX-License-Identifier: MIT */
/*
 * What threads cost, with each malloc (host.h).  Lost swaps: count/retries.c.
 *
 *	threads random N [short]    each of N threads: 10 000 live blocks of 8 B ... 1 KiB,
 *	                            replaced at random, first bytes written
 *	threads pair [short]        one allocates batches of 256 x 64 B, one releases them
 *
 * Prints "name value unit" lines.  Time is that of the wall, from the moment when all are
 * ready until the last one is done, over all operations of all threads.
 */
#include <stdatomic.h>

#include "host.h"
#include "random.h"

enum { THREADS = 8, LIVE = 10000, BATCH = 256, DEPTH = 8 };

static struct worker {
	_Alignas(128) uint64_t seed, started, ended, operations;
	void *live[LIVE];
} workers[THREADS];

static unsigned threads = 1, scale = 1; /* short runs: a tenth */
static _Atomic unsigned ready;

/* All wait the same way, with every malloc: some rounds awake, then the CPU to others. */
static void wait_some(unsigned *n)
{
	if (++*n % 64 == 0)
		rt_yield();
}

static void begin(struct worker *w)
{
	unsigned n = 0;

	atomic_fetch_add(&ready, 1);
	while (atomic_load(&ready) < threads)
		wait_some(&n);
	w->started = rt_now();
}

static void end(struct worker *w)
{
	w->ended = rt_now();
}

static char *fresh(uint64_t random)
{
	char *p = take(8 + random % 1017);

	*(volatile char *)p = 1;
	return p;
}

static void random_body(void *argument)
{
	struct worker *w = argument;
	uint64_t state = w->seed, n;

	for (n = 0; n < LIVE; n++)
		w->live[n] = fresh(next_random(&state) >> 20);
	begin(w);
	for (n = 0; n < w->operations; n++) {
		uint64_t random = next_random(&state);
		void **p = &w->live[(random & 0xffffffff) * LIVE >> 32];

		give(*p);
		*p = fresh(random >> 32);
	}
	end(w);
	for (n = 0; n < LIVE; n++)
		give(w->live[n]);
}

/* A bounded queue of batches: the slot says whether its batch is full or to be filled. */
static struct batch {
	void *p[BATCH];
} batches[DEPTH];
static struct {
	_Alignas(128) struct batch *_Atomic batch;
} queue[DEPTH];

static void produce(struct worker *w)
{
	uint64_t n;
	unsigned i, spins = 0;

	for (n = 0; n < w->operations / BATCH; n++) {
		struct batch *b = &batches[n % DEPTH];

		while (atomic_load_explicit(&queue[n % DEPTH].batch, memory_order_acquire) != NULL)
			wait_some(&spins);
		for (i = 0; i < BATCH; i++) {
			b->p[i] = take(64);
			*(volatile char *)b->p[i] = 1;
		}
		atomic_store_explicit(&queue[n % DEPTH].batch, b, memory_order_release);
	}
}

static void consume(struct worker *w)
{
	uint64_t n;
	unsigned i, spins = 0;

	for (n = 0; n < w->operations / BATCH; n++) {
		struct batch *b;

		while ((b = atomic_load_explicit(&queue[n % DEPTH].batch, memory_order_acquire)) ==
		       NULL)
			wait_some(&spins);
		for (i = 0; i < BATCH; i++)
			give(b->p[i]);
		atomic_store_explicit(&queue[n % DEPTH].batch, NULL, memory_order_release);
	}
}

static void pair_body(void *argument)
{
	struct worker *w = argument;

	begin(w);
	if (w == workers)
		produce(w);
	else
		consume(w);
	end(w);
}

/* Per operation of all threads together. */
static uint64_t run(void (*body)(void *), uint64_t operations, uint64_t *all)
{
	struct rt_thread *running[THREADS];
	uint64_t first = UINT64_MAX, last = 0;
	unsigned i;

	*all = 0;
	for (i = 0; i < threads; i++) {
		workers[i].seed = 88172645463325252u + i * 7919;
		workers[i].operations = operations / scale;
		running[i] = rt_thread_start(body, &workers[i]);
		if (running[i] == NULL) {
			rt_print("no thread\n");
			return 0;
		}
	}
	for (i = 0; i < threads; i++) {
		rt_thread_join(running[i]);
		first = workers[i].started < first ? workers[i].started : first;
		last = workers[i].ended > last ? workers[i].ended : last;
		*all += workers[i].operations;
	}
	return last - first;
}

static void picoseconds(const char *name, uint64_t time, uint64_t operations)
{
	rt_print("%s %llu ps\n", name, (unsigned long long)(time * 1000 / operations));
}

int main(int argc, char **argv, char **envp)
{
	static char name[] = "random-0";
	const char *what = argc > 1 ? argv[1] : "";
	uint64_t all, time;

	(void)envp;
	if (argc > 1 && rt_strcmp(argv[argc - 1], "short") == 0)
		scale = 10;
	if (argc > 2 && argv[2][0] >= '1' && argv[2][0] <= '0' + THREADS)
		threads = (unsigned)(argv[2][0] - '0');
	if (rt_strcmp(what, "random") == 0) {
		time = run(random_body, 4000000, &all);
		name[7] = (char)('0' + threads);
		picoseconds(name, time, all);
	} else if (rt_strcmp(what, "pair") == 0) {
		threads = 2;
		time = run(pair_body, 20000 * BATCH, &all);
		picoseconds("pair", time, all / 2);
	} else {
		return 2;
	}
	return 0;
}
