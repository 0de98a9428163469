/* SPDX-License-Identifier: MIT */
/*
 * A heap shared by processes, in a file, with all the threads of this one: each takes the others for threads of other
 * processes, as its records, tags and intents are the same for both.  A turn starts threads that compete for slots, publish drafts, change and
 * release each other's blocks, fill the heap, recover, trim and seal it; some end without a word, and some in the middle of a call.
 * system.c maps a view of the file where the heap is, so that what its reads race with is seen.
 *
 *   passed[]   blocks that pass from thread to thread, and are read by who has them
 *   once[]     slots of a turn's board that get a block once: who loads it reads it
 *   churned[]  slots that change all the time: their blocks are filled before, and never read
 */
#include "stress.h"

#include "../bench/random.h"

#include "ashlar.h"
#include "ashlar_heap.h"

#include <pthread.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

enum { SHARERS = 3, PASSED = 256, ONCE = 12, CHURNED = 16, HELD = 24 };

struct board {
	void *once[ONCE], *churned[CHURNED];
};

struct turn_shared {
	struct ash_heap *heap;
	struct board *board;
	uint64_t seed;
	_Atomic unsigned number;
};

static struct ash_heap *_Atomic common;
static int file = -1;
static struct block *_Atomic passed[PASSED];
static _Atomic unsigned losses; /* threads that ended in the middle of a call, or with blocks */
static const char *const names[] = {"one", "two", "three", "four", ""};

/* The first word of a block of a slot `once`. */
static const uint64_t written = 0x1234567;

static size_t size_of(uint64_t *r)
{
	uint64_t what = below(r, 400);

	/* At least what is filled. */
	return what == 0 ? MIB + 1 + below(r, 2 * MIB) : what < 20 ? 64 + below(r, 100 << 10) : turn_size(r);
}

static struct block *make(struct ash_heap *h, uint64_t *r)
{
	size_t size = size_of(r);

	switch (below(r, 8)) {
	case 0:
		return fill(ash_heap_zalloc(h, 1, size), 64, next_random(r));
	case 1:
		return fill(ash_heap_aligned_alloc(h, (size_t)16 << below(r, 9), size), 64, next_random(r));
	case 2:
		return fill(ash_heap_alloc_tagged(h, size, (unsigned char)(1 + below(r, 255))), 64, next_random(r));
	default:
		return fill(ash_heap_alloc(h, size), 64, next_random(r));
	}
}

void shared_leave(struct ash_heap *h, struct block *b, uint64_t *r)
{
	if (b == NULL)
		return;
	check_up_to(b, b->size, b->size);
	if (below(r, 2) == 0)
		ash_heap_release(h, b);
	else
		ash_release(b);
}

static struct block *change(struct ash_heap *h, struct block *b, uint64_t *r)
{
	struct block *moved = ash_heap_resize(h, b, size_of(r) + 64);

	return moved != NULL ? moved : b;
}

static void publish(struct ash_heap *h, void **slot, uint64_t *r)
{
	size_t size = turn_size(r);
	struct block *b = below(r, 4) == 0 ? ash_heap_draft_tagged(h, size, (unsigned char)below(r, 256))
					   : ash_heap_draft(h, size);

	if (fill(b, 64, next_random(r)) == NULL)
		return;
	if (below(r, 8) == 0 || ash_heap_replace(h, slot, ash_heap_load(h, slot), b) != ASH_SLOT_DONE)
		ash_heap_release(h, b);
}

static void once(struct ash_heap *h, void **slot, uint64_t *r)
{
	uint64_t *b = below(r, 2) == 0 ? ash_heap_load(h, slot) : ash_heap_alloc_into(h, turn_size(r), slot, NULL);

	if (b == NULL && (b = ash_heap_draft(h, 64)) != NULL) {
		b[0] = b[1] = written;
		if (ash_heap_replace(h, slot, NULL, b) != ASH_SLOT_DONE)
			ash_heap_release(h, b);
		b = ash_heap_load(h, slot);
	}
	if (b != NULL && ((b[0] != 0 && b[0] != written) || b[1] != b[0]))
		fail("the block of a slot is not as it was published");
}

static int see_name(void *context, const char *name, void *p)
{
	(void)p;
	*(size_t *)context += name[0] != '\0';
	return 0;
}

static void name(struct ash_heap *h, uint64_t *r)
{
	const char *which = names[below(r, sizeof names / sizeof *names)];
	struct block *b;
	size_t n = 0;

	switch (below(r, 4)) {
	case 0:
		b = fill(ash_heap_draft(h, turn_size(r)), 64, next_random(r));
		if (b != NULL && ash_heap_bind(h, which, b) != ASH_SLOT_DONE)
			ash_heap_release(h, b);
		break;
	case 1:
		shared_leave(h, ash_heap_unbind(h, which), r); /* the caller's alone from here on */
		break;
	case 2:
		(void)ash_heap_find(h, which);
		break;
	default:
		(void)ash_heap_names(h, see_name, &n);
	}
}

static void share(struct turn_shared *t, uint64_t *r)
{
	struct block *held[HELD] = {NULL}, **mine;
	struct ash_heap *h = t->heap;
	unsigned n;

	for (n = 0; n < 300; n++) {
		mine = &held[below(r, HELD)];
		switch (below(r, 16)) {
		case 0: case 1: case 2:
			publish(h, &t->board->churned[below(r, CHURNED)], r);
			break;
		case 3:
			(void)ash_heap_release_from(h, &t->board->churned[below(r, CHURNED)]);
			break;
		case 4: case 5:
			once(h, &t->board->once[below(r, ONCE)], r);
			break;
		case 6:
			name(h, r);
			break;
		case 7:
			if (below(r, 4) == 0)
				shared_upkeep(h, r);
			break;
		case 8:
			if (*mine != NULL)
				*mine = change(h, *mine, r);
			break;
		case 9: case 10: case 11:
			*mine = trade(*mine, &passed[below(r, PASSED)]);
			break;
		default:
			shared_leave(h, *mine, r);
			*mine = make(h, r);
		}
	}
	for (n = 0; n < HELD; n++)
		shared_leave(h, held[n], r);
}

static void *sharer(void *argument)
{
	struct turn_shared *t = argument;
	uint64_t random = t->seed + atomic_fetch_add(&t->number, 1);
	unsigned what = (unsigned)below(&random, 4);
	struct ash_heap *h = t->heap;

	stress_began();
	share(t, &random);
	if (what == 0 && ash_heap_draft(h, 64) != NULL) /* goes with the thread */
		RELAXED_ADD(losses, 1);			/* if the last recovery finds it gone */
	if (what == 1) {
		shared_fill_up(h, &random); /* so that there is something to give back */
		turn_mortal = &losses;
		(void)ash_heap_trim(h, 0); /* in which it ends, */
		(void)ash_heap_recover(h); /* or here, where it takes over what others left */
		turn_mortal = NULL;
	}
	if (what == 2)
		ash_heap_thread_detach(h);
	ash_thread_detach();
	stress_ended();
	return NULL;
}

void turn_shared(uint64_t *r)
{
	struct turn_shared t = {.heap = atomic_load_explicit(&common, memory_order_acquire), .seed = next_random(r)};
	pthread_t threads[SHARERS];
	unsigned i;

	if (t.heap == NULL || (t.board = ash_heap_zalloc(t.heap, 1, sizeof *t.board)) == NULL)
		return;
	for (i = 0; i < SHARERS; i++)
		if (pthread_create(&threads[i], NULL, sharer, &t) != 0)
			fail("pthread_create");
	share(&t, r);
	for (i = 0; i < SHARERS; i++)
		pthread_join(threads[i], NULL);
	for (i = 0; i < ONCE; i++)
		(void)ash_heap_release_from(t.heap, &t.board->once[i]);
	for (i = 0; i < CHURNED; i++)
		(void)ash_heap_release_from(t.heap, &t.board->churned[i]);
	ash_heap_release(t.heap, t.board);
}

void shared_interrupt(uint64_t *r)
{
	struct ash_heap *h = atomic_load_explicit(&common, memory_order_acquire);
	struct block *b;

	if (h == NULL)
		return;
	b = fill(ash_heap_alloc(h, turn_size(r)), 64, next_random(r));
	if (b != NULL)
		b = trade(b, &passed[below(r, PASSED)]);
	shared_leave(h, b, r);
	b = fill(ash_heap_draft(h, 64), 64, next_random(r));
	if (b != NULL)
		ash_heap_release(h, b);
}

void shared_look(void)
{
	if (atomic_load_explicit(&common, memory_order_acquire) != NULL)
		shared_view(file);
}

void shared_begin(void)
{
	struct ash_heap_options options = {.address = SHARED_AT, .limit = 20 * MIB, .retain = MIB};
	struct ash_heap *h;

	file = memfd_create("shared", MFD_CLOEXEC);
	h = file < 0 ? NULL : ash_heap_create_file(file, 12 * MIB, &options);
	if (h == NULL)
		fail("no shared heap");
	atomic_store(&common, h);
}

void shared_end(void)
{
	struct ash_heap *h = atomic_exchange(&common, NULL);
	uint64_t random = 1;
	size_t i, n = 0;

	if (h == NULL)
		return;
	(void)ash_heap_recover(h);
	for (i = 0; i < PASSED; i++)
		shared_leave(h, trade(NULL, &passed[i]), &random);
	for (i = 0; i < sizeof names / sizeof *names; i++)
		shared_leave(h, ash_heap_unbind(h, names[i]), &random);
	(void)ash_heap_walk(h, shared_see, &n);
	if (n > atomic_load(&losses))
		fail("blocks are left in the shared heap");
	if (ash_heap_check(h) != 0)
		fail("ash_heap_check of the shared heap at the end");
	ash_heap_destroy(h);
	close(file);
}
