/* SPDX-License-Identifier: MIT */
/*
 * Turns: what the mixed work of stress.c does not reach, or seldom.
 *
 *   wave     threads start, leave blocks behind and end, some of them without a word, and some in
 *            the middle of a call: records are vacant, and visited, adopted, taken over and rebuilt
 *   drain    the blocks they left are released, group by group, by several threads at a time
 *   hog      all free units are used up, then slabs of the classes that waves leave are needed: the
 *            heap grows, or memory runs out, so slabs of vacant records are adopted
 *   grow     large blocks grow in place, up to spans; spans grow and shrink
 *   period   much is released, then nothing is needed for some periods of the retention clock, so
 *            what is due is purged in parts while the others go on
 *   object   blocks of a heap of its own, which all threads release as they do others
 *   gone     a heap is destroyed while the threads that worked in it end (gone.c)
 *   shared   threads at work on a heap shared by processes (shared.c)
 */
#include "stress.h"

#include "../bench/random.h"

#include "ashlar.h"
#include "ashlar_heap.h"

#include <pthread.h>
#include <string.h>

enum { LEFT = 4096, WAVE = 3, HOGGED = 64, RAMP = 512, TICKS = 3 * 8192, DEATHS = 64 };

/* Threads end in the middle of a call, as by a jump out of a handler; what they held is lost. */
#ifdef TIGHT
#define MORTAL false
#else
#define MORTAL true
#endif

_Atomic bool quiet;
static struct block *_Atomic left[LEFT];

/* The sizes that waves leave: few, so that threads meet in a class; the last ones are large slabs. */
size_t turn_size(uint64_t *r)
{
	static const size_t sizes[] = {64, 64, 500, 500, 1200, 5000, 40000, 70000};

	return sizes[below(r, sizeof sizes / sizeof *sizes)];
}

static size_t wave_count(uint64_t *r, size_t size)
{
	return size > 32768 ? 2 + below(r, 6) : 16 + below(r, size > 2000 ? 32 : 400);
}

/* Neighbours in the table are neighbours in slabs: who drains it frees whole groups. */
static void leave_behind(uint64_t *r)
{
	size_t size = turn_size(r), n = wave_count(r, size), at = below(r, LEFT);

	for (; n > 0; n--, at++) {
		struct block *b = fill(ash_alloc(size), 64, next_random(r));

		if (b != NULL)
			b = trade(b, &left[at % LEFT]);
		if (b != NULL)
			let_go(b);
	}
}

static void drain(uint64_t *r)
{
	size_t at = below(r, LEFT), n = 64 + below(r, LEFT / 2);

	for (; n > 0; n--, at++) {
		struct block *b = trade(NULL, &left[at % LEFT]);

		if (b != NULL)
			let_go(b);
	}
}

_Thread_local _Atomic unsigned *turn_mortal;
static _Atomic unsigned deaths;

void turn_may_end(void)
{
	if (turn_mortal == NULL || (turn_mortal == &deaths && atomic_load(&deaths) >= DEATHS))
		return;
	atomic_fetch_add(turn_mortal, 1);
	stress_ended();
	pthread_exit(NULL);
}

static void *life(void *argument)
{
	uint64_t random = (uint64_t)(uintptr_t)argument;
	unsigned what = (unsigned)below(&random, 4);

	stress_began();
	leave_behind(&random);
	if (what > 1)
		leave_behind(&random);
	if (what == 2)
		drain(&random);
	turn_mortal = MORTAL && what == 1 ? &deaths : NULL;
	if (turn_mortal != NULL)
		(void)ash_trim(0); /* in which it ends, if there is anything to give back */
	if (what != 0) /* else its record is taken over when the kernel says that it is gone */
		ash_thread_detach();
	stress_ended();
	return NULL;
}

static void wave(uint64_t *r)
{
	pthread_t threads[WAVE];
	unsigned i;

	for (i = 0; i < WAVE; i++)
		if (pthread_create(&threads[i], NULL, life, (void *)(uintptr_t)(next_random(r) | 1)) != 0)
			fail("pthread_create");
	drain(r);
	for (i = 0; i < WAVE; i++)
		pthread_join(threads[i], NULL);
	drain(r);
}

static void hog(uint64_t *r)
{
	struct block *hogged[HOGGED], *ramp[RAMP];
	size_t n = 0, m = 0, i, size;

	wave(r); /* so that there are vacant records with slabs */
	while (n < HOGGED && (hogged[n] = fill(ash_alloc(MIB / 4 + below(r, MIB - MIB / 4)), 64, n)) != NULL)
		n++;
	for (i = 0; i < 4; i++) {
		size = turn_size(r);
		while (m < RAMP * (i + 1) / 4 && (ramp[m] = fill(ash_alloc(size), 64, m)) != NULL)
			m++;
	}
	while (n > 0)
		let_go(hogged[--n]);
	while (m > 0)
		let_go(ramp[--m]);
	/* Seldom is a free chunk so aligned: it gets a region of its own, which ash_trim retires. */
	hogged[0] = below(r, 2) == 0 ? fill(ash_aligned_alloc(8 * MIB, MIB + 1 + below(r, MIB)), 64, n) : NULL;
	if (hogged[0] != NULL)
		let_go(hogged[0]);
	if (below(r, 2) == 0)
		(void)ash_trim(0);
}

/* The next size of a block that grows in place, or of a span that may also shrink. */
static size_t next_size(uint64_t *r, size_t size)
{
	return size > MIB && below(r, 2) == 0 ? MIB + 1 + below(r, size - MIB) : size + 1 + below(r, size);
}

static void grow(uint64_t *r)
{
	size_t size = 32769 + below(r, 200000), next, have;
	struct block *b, *moved;

	if (below(r, 2) == 0)
		size = MIB - below(r, 65536); /* it may begin a chunk, and have it alone */
	b = fill(ash_alloc(size), 64, next_random(r));
	for (; b != NULL && size < 6 * MIB; size = next) {
		next = next_size(r, size);
		have = ash_expand(b, next);
		if (have != 0 && have < next)
			fail("a block that grew has less than it should");
		if (have == 0) {
			moved = ash_resize(b, next);
			if (moved == NULL)
				break;
			b = moved;
		}
		check_up_to(b, 64, 64);
		((char *)b)[next - 1] = 1; /* what it grew into is its own */
	}
	if (b != NULL)
		let_go(b);
}

static void period(uint64_t *r)
{
	static _Atomic bool begun;
	size_t n = 0, size = 2 * MIB - 4096, i;
	struct block *blocks[24], *span;

	if (atomic_exchange(&begun, true))
		return;
	span = fill(ash_alloc(size), 64, next_random(r));
	while (n < 24 && (blocks[n] = fill(ash_alloc(MIB - 8), 64, n)) != NULL)
		n++;
	while (n > 0)
		let_go(blocks[--n]);
	atomic_store_explicit(&quiet, true, memory_order_relaxed);
	/* Each is a slow operation for the clock, and changes nothing. */
	for (i = 0; i < TICKS && span != NULL; i++)
		(void)ash_expand(span, size);
	atomic_store_explicit(&quiet, false, memory_order_relaxed);
	if (span != NULL)
		let_go(span);
	atomic_store(&begun, false);
}

static void object(uint64_t *r)
{
	struct ash_heap *h = atomic_load_explicit(&heap, memory_order_acquire);
	size_t i, n = 32 + below(r, 300), size = turn_size(r);

	for (i = 0; h != NULL && i < n; i++) {
		void *p = below(r, 4) != 0 ? ash_heap_alloc(h, size)
					   : ash_heap_aligned_alloc(h, (size_t)16 << below(r, 6), size);
		struct block *b = fill(p, 64, next_random(r)), *moved;

		if (b == NULL)
			break;
		moved = below(r, 8) == 0 ? ash_heap_resize(h, b, size + below(r, 2 * size)) : NULL;
		b = trade(moved != NULL ? moved : b, below(r, 3) == 0 ? &table[below(r, TABLE)] : &left[below(r, LEFT)]);
		if (b != NULL)
			let_go(b);
	}
	if (h != NULL && below(r, 8) == 0)
		(void)ash_heap_trim(h, below(r, 2) * MIB);
	if (h != NULL && below(r, 8) == 0)
		ash_heap_thread_detach(h);
}

void turn(uint64_t *r)
{
	switch (below(r, SHARED ? 20 : 16)) {
	case 0: case 1: case 2: case 3:
		wave(r);
		break;
	case 4: case 5:
		hog(r);
		break;
	case 6:
		period(r);
		break;
	case 7: case 8:
		object(r);
		break;
	case 9:
		turn_gone(r);
		break;
	case 10: case 11: case 12:
		drain(r);
		break;
	case 16: case 17: case 18: case 19:
		turn_shared(r);
		break;
	default:
		grow(r);
	}
}

unsigned turns_end(void)
{
	struct block *b;
	size_t i;

	for (i = 0; i < LEFT; i++)
		if ((b = trade(NULL, &left[i])) != NULL)
			let_go(b);
	return atomic_load(&deaths);
}
