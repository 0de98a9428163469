/* SPDX-License-Identifier: MIT */
/* The acts at a boundary: by another thread, by a handler, by a fork. */
#include "inner/steps/harness.h"
#include "ashlar_heap.h"

#include "support/stamp.h"

enum { KEPT = 8192, GIFTS = 3000, OPERATIONS = 1000, BURST = 200 };

size_t step_size, step_stays, steps_burst;
void *step_block;
_Atomic long steps_held;

static void *kept[KEPT];
static size_t kept_count;

void *steps_take(size_t size)
{
	void *p = ash_alloc(size);

	CHECK(p != NULL && kept_count < KEPT);
	kept[kept_count++] = p;
	steps_held++;
	return p;
}

bool steps_is_kept(const void *p)
{
	for (size_t i = 0; i < kept_count; i++)
		if (kept[i] == p)
			return true;
	return false;
}

/* ---- acts ---- */

static uint64_t gifts[GIFTS]; /* blocks of the victim that others release */
static _Atomic size_t gifts_left;
static struct rt_random dice;
static size_t turns; /* of fork acts, in this process */

static void release_gift(void)
{
	size_t left = gifts_left;

	if (left > 0) {
		gifts_left = left - 1;
		steps_held--;
		stamp_release(gifts[left - 1]);
	}
}

/* Several slabs full, from one act to the next, where their contents must stay; or empty. */
static void other_bursts(void)
{
	static uint64_t blocks[BURST];

	CHECK(steps_burst <= BURST);
	for (size_t i = 0; i < steps_burst; i++)
		if (blocks[i] != 0) {
			stamp_release(blocks[i]);
			blocks[i] = 0;
			steps_held--;
		} else {
			blocks[i] = stamp_set(ash_alloc(step_size), step_size, i);
			steps_held++;
		}
}

/* A thousand calls of all kinds; no block is left over. */
static void other_works(void)
{
	static uint64_t mine[40];
	unsigned n;

	other_bursts();
	for (n = 0; n < OPERATIONS; n++) {
		uint64_t *slot = &mine[rt_below(&dice, 40)];

		if (*slot == 0)
			*slot = stamp_alloc(&dice, n == 500);
		else if (n % 16 == 0)
			*slot = stamp_resize(*slot, stamp_random_size(&dice, false), n);
		else {
			stamp_release(*slot);
			*slot = 0;
		}
		if (n % 500 == 0)
			release_gift();
	}
	for (n = 0; n < 40; n++)
		if (mine[n] != 0) {
			stamp_release(mine[n]);
			mine[n] = 0;
		}
}

void act_stop(void)
{
	steps_other(other_works);
}

static uint64_t others_blocks[64]; /* many at a time: a turn costs more than the act */
static size_t others_left;

static void other_allocates(void)
{
	for (; others_left < 64; others_left++, steps_held++)
		others_blocks[others_left] = stamp_set(ash_alloc(720), 720, others_left);
}

/*
 * Ten blocks of several classes in a handler: its own, the victim's, the other's.  And
 * in fast paths one of the call's size that stays: no other thread may get it.
 */
void act_signal(void)
{
	static const size_t sizes[10] = {8, 16, 40, 100, 500, 1500, 9000, 40000, 300000, 2500000};
	uint64_t block[10];
	unsigned i;

	if (others_left == 0)
		steps_other(other_allocates);
	for (i = 0; i < 10; i++)
		block[i] = stamp_set(ash_alloc(sizes[i]), sizes[i], i);
	for (i = 0; i < 10; i += 2)
		stamp_release(block[i]);
	release_gift();
	stamp_release(others_blocks[--others_left]);
	steps_held--;
	block[3] = stamp_resize(block[3], 7000, 77);
	for (i = 1; i < 10; i += 2)
		stamp_release(block[i]);
	if (step_stays > 0) {
		step_stays--;
		(void)steps_take(step_size);
	}
}

/* One in 16 is written, each time others: a page touched costs a child as much as 100 calls. */
static void every_class(size_t turn)
{
	size_t size;

	for (size = 8; size <= (size_t)2 << 20; size = ash_good_size(size + 1), turn++) {
		bool touch = turn % 16 == 0;
		uint64_t *p = touch && size <= 8192 ? ash_zalloc(1, size) : ash_alloc(size);

		CHECK(p != NULL);
		if (touch && size <= 8192)
			CHECK_EQ(p[0] | p[size / 8 - 1], 0);
		if (touch)
			p[0] = p[size / 8 - 1] = size;
		ash_release(p);
	}
}

DOES(first_calls, every_class(0));

static int count_one(void *context, void *block, size_t size,
		     UNUSED const struct ash_heap_owner *owner)
{
	CHECK(block != NULL && ash_good_size(size) == size);
	++*(size_t *)context;
	return 0;
}

/* A look at the blocks shows the number that the statistics have, and the kept blocks. */
static void look_at_blocks(size_t blocks)
{
	static size_t looks;
	struct ash_block b;
	size_t seen = 0, n;

	if (looks++ % 16 == 0) {
		CHECK_EQ(ash_heap_walk(NULL, count_one, &seen), 0);
		CHECK_EQ(seen, blocks);
	}
	for (n = 0; n < kept_count && n < 4; n++) {
		char *p = kept[(looks + n) % kept_count];

		CHECK_EQ(ash_find(p + 3, &b), ASH_TAKEN);
		CHECK(b.start == p && b.offset == 3 && b.heap == NULL && b.owner == 1);
	}
}

/* The bitmaps and the books agree, but for the one that the call has in hand. */
void steps_count_blocks(void)
{
	struct ash_statistics st;
	long difference;

	CHECK_EQ(ash_check(), 0);
	ash_stats(&st);
	difference = (long)st.blocks - steps_held;
	CHECK(difference >= -1 && difference <= 1);
	look_at_blocks(st.blocks);
}

/* In the child of a fork: the victim is this thread, or vanished. */
static void child(bool vanished)
{
	size_t n;

	if (vanished)
		steps_look_at_records();
	every_class(turns);
	for (n = 0; n < 5; n++)
		release_gift();
	if (vanished) /* take over its blocks */
		for (; kept_count > 0; steps_held--)
			ash_release(kept[--kept_count]);
	steps_count_blocks();
	rt_exit(0);
}

static long last_child;

static void children_end(void)
{
	if (last_child != 0)
		CHECK_EQ(rt_wait(last_child), 0);
	last_child = 0;
}

/* A child works beside the next boundaries, on another CPU. */
static void fork_one(bool vanished)
{
	long pid = rt_fork();

	if (pid == 0)
		child(vanished);
	CHECK(pid > 0);
	turns++;
	children_end();
	last_child = pid;
}

void act_fork(void)
{
	fork_one(false);
}

DOES(other_forks, fork_one(true));

void act_fork_by_other(void)
{
	steps_other(other_forks);
}

/* ---- before the first and after the last ---- */

void acts_begin(uint64_t seed, size_t gift_count)
{
	size_t i;

	rt_seed(&dice, seed);
	other_begin();
	CHECK(gift_count <= GIFTS);
	for (i = 0; i < gift_count; i++, steps_held++)
		gifts[gifts_left++] = stamp_set(ash_alloc(64), 64, i);
	steps_other(first_calls);
}

void acts_end(void)
{
	children_end();
	if (steps_burst > 0)
		steps_other(other_bursts); /* its blocks have their contents */
	other_end();
}
