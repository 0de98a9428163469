/* SPDX-License-Identifier: MIT */
/*
 * Threads under Ashlar as malloc: blocks passed between threads, small stacks,
 * destructors that allocate, short-lived threads.  Prints its counts.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ashlar.h"

enum { THREADS = 8, ROUNDS = 20000, SLOTS = 512, GUESTS = 1000 };

/* Present in every build of Ashlar. */
__attribute__((weak)) void ash_stats(struct ash_statistics *out);
__attribute__((weak)) int ash_check(void);

struct block {
	size_t size;
	unsigned char bytes[];
};

static struct block *table[SLOTS];
static pthread_key_t keys[3];
static _Atomic unsigned destroyed;

static void fail(const char *what)
{
	fprintf(stderr, "threads: %s\n", what);
	abort();
}

static struct block *block_make(size_t size)
{
	struct block *b = malloc(sizeof *b + size);

	if (b == NULL)
		fail("no memory");
	b->size = size;
	memset(b->bytes, (int)size & 255, size);
	return b;
}

static void block_drop(struct block *b)
{
	size_t i;

	if (b == NULL)
		return;
	for (i = 0; i < b->size; i += 1 + b->size / 7)
		if (b->bytes[i] != (b->size & 255))
			fail("a block was overwritten");
	free(b);
}

static uint32_t next(uint32_t *seed)
{
	*seed = *seed * 1664525 + 1013904223;
	return *seed >> 8;
}

/* Allocates and frees in the last moments of a thread. */
static void destroy(void *p)
{
	free(p);
	free(block_make(300));
	destroyed++;
}

static void *work(void *number)
{
	uint32_t seed = (uint32_t)(uintptr_t)number, i;

	for (i = 0; i < 3; i++)
		pthread_setspecific(keys[i], malloc(100));
	for (i = 0; i < ROUNDS; i++) {
		uint32_t r = next(&seed);
		size_t size = r % 64 == 0 ? r % 100000 : r % 1000;

		block_drop(__atomic_exchange_n(&table[next(&seed) % SLOTS], block_make(size),
					       __ATOMIC_ACQ_REL));
	}
	return NULL;
}

/* A short-lived thread that leaves its last blocks in the table. */
static void *visit(void *number)
{
	unsigned i;

	pthread_setspecific(keys[1], malloc(5000));
	for (i = 0; i < 200; i++)
		block_drop(__atomic_exchange_n(&table[((uintptr_t)number * 7 + i) % SLOTS],
					       block_make(i * 3), __ATOMIC_ACQ_REL));
	return NULL;
}

/* Allocates a slab or more of every size, and frees everything. */
static void *fill(void *unused)
{
	static void *blocks[3000];
	size_t size;
	unsigned i;

	(void)unused;
	for (size = 8; size <= 1024; size *= 2) {
		for (i = 0; i < 3000; i++)
			blocks[i] = malloc(size);
		for (i = 0; i < 3000; i++)
			free(blocks[i]);
	}
	return NULL;
}

static void start(pthread_t *t, void *(*body)(void *), uintptr_t number)
{
	pthread_attr_t attributes;

	pthread_attr_init(&attributes);
	if (pthread_attr_setstacksize(&attributes, 16384) != 0)
		fail("no stacks of 16 KiB here");
	if (pthread_create(t, &attributes, body, (void *)number) != 0)
		fail("no thread");
	pthread_attr_destroy(&attributes);
}

static void at_the_end(void)
{
	unsigned i;

	for (i = 0; i < SLOTS; i++)
		block_drop(table[i]);
	free(block_make(77));
}

int main(void)
{
	pthread_t t[THREADS];
	struct ash_statistics s = {0}, before;
	unsigned i, k;

	atexit(at_the_end);
	for (i = 0; i < 3; i++)
		if (pthread_key_create(&keys[i], destroy) != 0)
			fail("no key");
	for (i = 0; i < THREADS; i++)
		start(&t[i], work, i + 1);
	for (i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
	for (i = 0; i < GUESTS; i += 2) {
		for (k = 0; k < 2; k++)
			start(&t[k], visit, i + k);
		for (k = 0; k < 2; k++)
			pthread_join(t[k], NULL);
	}
	if (ash_stats != NULL) {
		ash_stats(&s);
		if (ash_check() != 0)
			fail("ash_check");
		/* Records of ended threads are reused, so there are few more than threads at a time. */
		if (s.owners > 2 * THREADS)
			fail("records pile up");
		before = s;
		start(&t[0], fill, 0);
		pthread_join(t[0], NULL);
		ash_stats(&s);
		if (s.slabs > before.slabs)
			fail("a thread that ended kept its empty slabs");
	}
	printf("%u destructors, %u guests\n", destroyed, GUESTS);
	return 0;
}
