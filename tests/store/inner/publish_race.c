/* SPDX-License-Identifier: MIT */
/*
 * Processes compete for slots and are killed.  Whatever happens, in the end there is one block
 * for each slot that names one, and none besides.
 */

#include "store/recover/intent.h"
#include "support/blocks.h"

enum { WORKERS = 4, WORDS = 24, SIGKILL = 9 };

static ash_heap *heap;
static struct board {
	void *word[WORDS];
	_Atomic uint64_t done[WORKERS]; /* in each worker's place */
} *board;

static size_t size_of(struct rt_random *r)
{
	uint64_t n = rt_below(r, 200);

	return n == 0 ? (size_t)2 << 20 : n < 10 ? 40000 : 16 + rt_below(r, 600);
}

/* A block's first word is its own address, from before it is published. */
static void work(unsigned place, uint64_t seed, uint64_t rounds)
{
	struct rt_random r;
	uint64_t i;

	rt_seed(&r, seed);
	for (i = 0; i < rounds; i++) {
		void **slot = &board->word[rt_below(&r, WORDS)], **p;
		enum ash_slot did;

		switch (rt_below(&r, 4)) {
		case 0:
			(void)ash_heap_release_from(heap, slot);
			break;
		case 1:
			(void)ash_heap_alloc_into(heap, size_of(&r), slot, NULL);
			break;
		default:
			p = ash_heap_draft(heap, size_of(&r));
			if (p == NULL)
				break;
			*p = p;
			did = ash_heap_replace(heap, slot, ash_heap_load(heap, slot), p);
			CHECK(did == ASH_SLOT_DONE || did == ASH_SLOT_CHANGED);
			if (did != ASH_SLOT_DONE)
				ash_heap_release(heap, p);
		}
		board->done[place]++;
	}
}

static void books(void)
{
	size_t i, named = 0;
	void **p;

	CHECK_EQ(ash_heap_check(heap), 0);
	for (i = 0; i < WORDS; i++) {
		p = ash_heap_load(heap, &board->word[i]);
		CHECK(board->word[i] == p);
		CHECK(p == NULL || *p == p || *p == NULL);
		named += p != NULL;
	}
	CHECK_EQ(stats_of(heap).blocks, 1 + named);
}

static void open_board(void)
{
	heap = NOT_NULL(ash_heap_create_shared((size_t)96 << 20, NULL));
	board = NOT_NULL(ash_heap_zalloc(heap, 1, sizeof *board));
}

static long hire(unsigned place, uint64_t seed, uint64_t rounds)
{
	long pid = rt_fork();

	if (pid == 0) {
		work(place, seed, rounds);
		rt_exit(0);
	}
	return pid;
}

TEST(publish_race, 600)
{
	uint64_t rounds = rt_in_full() ? 2000000 : rt_under_qemu() ? 1000 : 40000;
	long pid[WORKERS];
	unsigned i;

	open_board();
	for (i = 0; i < WORKERS; i++)
		pid[i] = hire(i, rt_test_seed() + i, rounds);
	for (i = 0; i < WORKERS; i++)
		CHECK_EQ(rt_wait(pid[i]), 0);
	books();
}

/* One of them dies every few hundred operations; no process sweeps. */
TEST(publish_kills, 600)
{
	unsigned kills = rt_in_full() ? 3000 : rt_under_qemu() ? 6 : 30, i, at;
	struct rt_random r;
	long pid[WORKERS];
	uint64_t until;

	open_board();
	rt_seed(&r, rt_test_seed());
	for (i = 0; i < WORKERS; i++)
		pid[i] = hire(i, rt_next(&r), UINT64_MAX);
	for (i = 0; i < kills; i++) {
		at = (unsigned)rt_below(&r, WORKERS);
		until = board->done[at] + rt_below(&r, 300);
		while (board->done[at] < until)
			rt_yield();
		rt_kill(pid[at], SIGKILL);
		CHECK_EQ(rt_wait(pid[at]), 1000 + SIGKILL);
		pid[at] = hire(at, rt_next(&r), UINT64_MAX);
	}
	for (i = 0; i < WORKERS; i++) {
		rt_kill(pid[i], SIGKILL);
		CHECK_EQ(rt_wait(pid[i]), 1000 + SIGKILL);
	}
	(void)ash_heap_recover(heap);
	books();
}
