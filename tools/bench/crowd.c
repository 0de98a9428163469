/* SPDX-License-Identifier: MIT */
/*
 * Rows of several threads, in the spirit of the field's usual suites.  Each round starts
 * its threads and joins them; it lasts long enough (ten milliseconds and more) that this
 * does not matter, but where it is what is measured.
 */
#include <stdatomic.h>

#include "crowd.h"

struct worker workers[CROWD];

void together(unsigned count, void (*body)(void *))
{
	struct rt_thread *running[CROWD];

	for (unsigned i = 0; i < count; i++) {
		workers[i].number = i;
		running[i] = rt_thread_start(body, &workers[i]);
		if (running[i] == NULL) {
			rt_print("no thread can be started\n");
			rt_exit(1);
		}
	}
	for (unsigned i = 0; i < count; i++)
		rt_thread_join(running[i]);
}

void prepare_workers(unsigned blocks)
{
	for (unsigned i = 0; i < CROWD; i++) {
		workers[i].state = 88172645463325252u + i * 7919;
		if (blocks > 0)
			workers[i].blocks = row_table(blocks * sizeof(void *));
	}
}

/* ---- larson: as a server whose threads end and leave their blocks to the next ---- */

enum { LARSON_LIVE = 1000, LARSON_STEPS = 100000 };

static void larson_body(void *argument)
{
	struct worker *w = argument;

	for (unsigned i = 0; i < LARSON_STEPS; i++) {
		uint64_t random = next_random(&w->state);
		void **p = &w->blocks[(random & 0xffffffff) * LARSON_LIVE >> 32];
		char *q;

		give(*p);
		q = take(16 + (random >> 40) % 1009);
		*(volatile char *)q = 1;
		*p = q;
	}
}

static uint64_t larson(void)
{
	void **first = workers[0].blocks;

	together(CROWD, larson_body);
	for (unsigned i = 0; i + 1 < CROWD; i++)
		workers[i].blocks = workers[i + 1].blocks;
	workers[CROWD - 1].blocks = first;
	return CROWD * LARSON_STEPS;
}

static const char *prepare_larson(const char *file)
{
	(void)file;
	prepare_workers(LARSON_LIVE);
	return NULL;
}

/* ---- producer and consumer: a bounded queue of batches ---- */

enum { BATCH = 256, DEPTH = 8, BATCHES = 2000 };

static void *goods[DEPTH][BATCH];
static struct {
	_Alignas(LINE) _Atomic bool full;
} queue[DEPTH];

static void produce(void)
{
	unsigned waits = 0;

	for (unsigned n = 0; n < BATCHES; n++) {
		void **batch = goods[n % DEPTH];

		while (atomic_load_explicit(&queue[n % DEPTH].full, memory_order_acquire))
			wait_some(&waits);
		for (unsigned i = 0; i < BATCH; i++) {
			batch[i] = take(64);
			*(volatile char *)batch[i] = 1;
		}
		atomic_store_explicit(&queue[n % DEPTH].full, true, memory_order_release);
	}
}

static void consume(void)
{
	unsigned waits = 0;

	for (unsigned n = 0; n < BATCHES; n++) {
		void **batch = goods[n % DEPTH];

		while (!atomic_load_explicit(&queue[n % DEPTH].full, memory_order_acquire))
			wait_some(&waits);
		for (unsigned i = 0; i < BATCH; i++)
			give(batch[i]);
		atomic_store_explicit(&queue[n % DEPTH].full, false, memory_order_release);
	}
}

static void pipe_body(void *argument)
{
	if (((struct worker *)argument)->number == 0)
		produce();
	else
		consume();
}

static uint64_t pipe_round(void)
{
	together(TWO, pipe_body);
	return (uint64_t)BATCHES * BATCH;
}

/* ---- symmetric exchange: each fills a batch, swaps it for another's, releases that ---- */

enum { SWAPS = 2000, SWAP_BATCH = 64, BOXES = 16 };

struct parcel {
	void *block[SWAP_BATCH];
};
static struct {
	_Alignas(LINE) struct parcel *_Atomic parcel;
} boxes[BOXES];
static struct parcel *parcels; /* one for each box, one for each worker */

static void exchange_body(void *argument)
{
	struct worker *w = argument;
	struct parcel *mine = (struct parcel *)(void *)w->blocks;

	for (unsigned n = 0; n < SWAPS; n++) {
		uint64_t random = next_random(&w->state);

		for (unsigned i = 0; i < SWAP_BATCH; i++) {
			char *p = take(16 + (random + i * 37) % 497);

			*(volatile char *)p = 1;
			mine->block[i] = p;
		}
		mine = atomic_exchange_explicit(&boxes[(random >> 40) % BOXES].parcel, mine,
						memory_order_acq_rel);
		for (unsigned i = 0; i < SWAP_BATCH; i++)
			give(mine->block[i]); /* NULL in the first ones */
	}
	w->blocks = mine->block;
}

static uint64_t exchange(void)
{
	together(CROWD, exchange_body);
	return (uint64_t)CROWD * SWAPS * SWAP_BATCH;
}

static const char *prepare_exchange(const char *file)
{
	(void)file;
	prepare_workers(0);
	parcels = row_table((BOXES + CROWD) * sizeof(*parcels));
	for (unsigned i = 0; i < BOXES; i++)
		atomic_init(&boxes[i].parcel, &parcels[i]);
	for (unsigned i = 0; i < CROWD; i++)
		workers[i].blocks = parcels[BOXES + i].block;
	return NULL;
}

/*
 * ---- false sharing: small blocks, each written by its thread a hundred times ----
 * thrash: the threads' own blocks.  scratch: the first ones lay side by side before the
 * main thread gave one to each; who hands them out again to the thread that released
 * them makes the lines go to and fro.
 */

enum { WRITES = 100, SCRATCHES = 100000 };

static void scratch_body(void *argument)
{
	struct worker *w = argument;
	volatile char *p = w->blocks[0];

	for (unsigned n = 0; n < SCRATCHES; n++) {
		if (p != NULL)
			give((void *)p);
		p = take(8);
		for (unsigned i = 0; i < WRITES; i++)
			p[i % 8] = (char)i;
	}
	give((void *)p);
}

static uint64_t thrash(void)
{
	for (unsigned i = 0; i < TWO; i++)
		workers[i].blocks[0] = NULL;
	together(TWO, scratch_body);
	return TWO * SCRATCHES;
}

static uint64_t scratch(void)
{
	for (unsigned i = 0; i < TWO; i++)
		workers[i].blocks[0] = take(8);
	together(TWO, scratch_body);
	return TWO * SCRATCHES;
}

static const char *prepare_scratch(const char *file)
{
	(void)file;
	prepare_workers(1);
	return NULL;
}

/* ---- threads that come and go: each leaves half of its blocks to a later one ---- */

enum { GUEST_BLOCKS = 500 };

static void guest_body(void *argument)
{
	struct worker *w = argument;

	for (unsigned i = 0; i < GUEST_BLOCKS; i++)
		if (w->blocks[i] != NULL)
			give(w->blocks[i]);
	for (unsigned i = 0; i < GUEST_BLOCKS; i++) {
		w->blocks[i] = take(16 + next_random(&w->state) % 1009);
		*(volatile char *)w->blocks[i] = 1;
	}
	for (unsigned i = 0; i < GUEST_BLOCKS; i += 2) {
		give(w->blocks[i]);
		w->blocks[i] = NULL;
	}
}

static uint64_t guests(void)
{
	void **first;

	for (unsigned i = 0; i < 10; i++) {
		together(TWO, guest_body);
		first = workers[0].blocks;
		workers[0].blocks = workers[1].blocks;
		workers[1].blocks = first;
	}
	return 10 * TWO;
}

static const char *prepare_guests(const char *file)
{
	(void)file;
	prepare_workers(GUEST_BLOCKS);
	return NULL;
}

const struct row crowd_rows[] = {
	{"larson", larson, 20, false, prepare_larson},
	{"pipe", pipe_round, 20, false, NULL},
	{"exchange", exchange, 20, false, prepare_exchange},
	{"thrash", thrash, 20, false, prepare_scratch},
	{"scratch", scratch, 20, false, prepare_scratch},
	{"guests", guests, 100, false, prepare_guests},
	{NULL, NULL, 0, false, NULL},
};
