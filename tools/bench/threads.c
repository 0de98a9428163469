/* SPDX-License-Identifier: MIT */
/*
 * What threads cost.  Built as seeds.c is: without a libc against Ashlar, and with the
 * host's libc (-DHOSTED) against malloc.  Lost swaps: count/retries.c.
 *
 *	threads random N [short]    each of N threads: 10 000 live blocks of 8 B ... 1 KiB,
 *	                            replaced at random, first bytes written
 *	threads pair [short]        one allocates batches of 256 x 64 B, one releases them
 *
 * Prints "name value unit" lines.  Time is that of the wall, from the moment when all are
 * ready until the last one is done, over all operations of all threads.
 */
#include <stdatomic.h>

#include "random.h"

#ifdef HOSTED
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#define take(n)    malloc(n)
#define give(p)    free(p)
#define print      printf
#define same(a, b) (strcmp(a, b) == 0)
#define yield()    sched_yield()
typedef pthread_t thread;
#define RESULT                   void *
#define BODY_END                 return NULL
#define start(t, body, argument) (pthread_create(&(t), NULL, body, argument) == 0)
#define join(t)                  pthread_join(t, NULL)

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}
#else
#include "ashlar.h"
#include "rt.h"
#define take(n)                  ash_alloc(n)
#define give(p)                  ash_release(p)
#define print                    rt_print
#define now                      rt_now
#define same(a, b)               (rt_strcmp(a, b) == 0)
#define yield()                  rt_yield()
typedef struct rt_thread *thread;
#define RESULT                   void
#define BODY_END                 return
#define start(t, body, argument) (((t) = rt_thread_start(body, argument)) != NULL)
#define join(t)                  rt_thread_join(t)
#endif

#define BODY(name) static RESULT name(void *argument)

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
		yield();
}

static void begin(struct worker *w)
{
	unsigned n = 0;

	atomic_fetch_add(&ready, 1);
	while (atomic_load(&ready) < threads)
		wait_some(&n);
	w->started = now();
}

static void end(struct worker *w)
{
	w->ended = now();
}

static char *fresh(uint64_t random)
{
	char *p = take(8 + random % 1017);

	*(volatile char *)p = 1;
	return p;
}

BODY(random_body)
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
	BODY_END;
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

BODY(pair_body)
{
	struct worker *w = argument;

	begin(w);
	if (w == workers)
		produce(w);
	else
		consume(w);
	end(w);
	BODY_END;
}

/* Per operation of all threads together. */
static uint64_t run(RESULT (*body)(void *), uint64_t operations, uint64_t *all)
{
	static thread running[THREADS];
	uint64_t first = UINT64_MAX, last = 0;
	unsigned i;

	*all = 0;
	for (i = 0; i < threads; i++) {
		workers[i].seed = 88172645463325252u + i * 7919;
		workers[i].operations = operations / scale;
		if (!start(running[i], body, &workers[i])) {
			print("no thread\n");
			return 0;
		}
	}
	for (i = 0; i < threads; i++) {
		join(running[i]);
		first = workers[i].started < first ? workers[i].started : first;
		last = workers[i].ended > last ? workers[i].ended : last;
		*all += workers[i].operations;
	}
	return last - first;
}

static void picoseconds(const char *name, uint64_t time, uint64_t operations)
{
	print("%s %llu ps\n", name, (unsigned long long)(time * 1000 / operations));
}

int main(int argc, char **argv
#ifndef HOSTED
	 ,
	 char **envp
#endif
)
{
	static char name[] = "random-0";
	const char *what = argc > 1 ? argv[1] : "";
	uint64_t all, time;

#ifndef HOSTED
	(void)envp;
#endif
	if (argc > 1 && same(argv[argc - 1], "short"))
		scale = 10;
	if (argc > 2 && argv[2][0] >= '1' && argv[2][0] <= '0' + THREADS)
		threads = (unsigned)(argv[2][0] - '0');
	if (same(what, "random")) {
		time = run(random_body, 4000000, &all);
		name[7] = (char)('0' + threads);
		picoseconds(name, time, all);
	} else if (same(what, "pair")) {
		threads = 2;
		time = run(pair_body, 20000 * BATCH, &all);
		picoseconds("pair", time, all / 2);
	} else {
		return 2;
	}
	return 0;
}
