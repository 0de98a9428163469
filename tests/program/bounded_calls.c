/* SPDX-License-Identifier: MIT */
/*
 * What one call looks at is bounded, however many slabs its thread has, or threads have that ended
 * or that a fork left behind: counted, in a heap that grows.  And the part is large enough: all
 * slabs have been looked at by the time that the heap has grown by half.
 */
/* promises: ash_alloc, ash_release */
#include "ashlar.h"
#include "backend/map.h"
#include "generation.h"
#include "process.h"
#include "rt.h"
#include "support/wrap.h"
#include "syscall.h"
#include "thread/seat.h"
#include "thread/settle.h"

static size_t collected, armed;

WRAP(bool, slab_collect, (struct slab *s, bool taken_over))
{
	collected++;
	return __real_slab_collect(s, taken_over);
}

WRAP(bool, slab_arm, (struct slab *s))
{
	armed++;
	return __real_slab_arm(s);
}

enum { SIZE = 16 << 10, BLOCKS = 16 << 10 };
static void *blocks[BLOCKS];

/* Returns the most that a call looked at; with a few releases behind it. */
static void *counted(size_t size, size_t *most)
{
	size_t before = collected + armed;
	void *p = NOT_NULL(ash_alloc(size));

	before = collected + armed - before;
	*most = before > *most ? before : *most;
	return p;
}

enum { MOST = 2 * SHRINK_TURN * CHUNK_UNITS + CLASSES };

TEST(turn_is_bounded, 30)
{
	size_t i, most = 0, all;

	for (i = 0; i < BLOCKS; i++)
		blocks[i] = counted(SIZE, &most);
	rt_print("     full slabs: %zu looked at by a call at most\n", most);
	CHECK(most >= SHRINK_TURN && most <= MOST);
	all = collected;
	CHECK(all <= BLOCKS / 4 * (SHRINK_TURN + 1)); /* growth pays: not more than the slabs by a factor */
	for (i = 0; i < BLOCKS; i += 2)
		ash_release(blocks[i]);
	/* Half of each slab is free, and of another class than is wanted. */
	for (most = i = 0; i < BLOCKS / 4; i++)
		(void)counted(SIZE / 4 * 7, &most);
	rt_print("     partial slabs: %zu looked at by a call at most\n", most);
	CHECK(most >= SHRINK_TURN && most <= MOST);
	CHECK_EQ(ash_check(), 0);
}

/* Each slab is looked at while the heap grows by so many chunks. */
TEST(turns_reach_all, 30)
{
	struct owner *o;
	struct slab *s;
	size_t most = 0, i, n = 0;

	for (i = 0; i < BLOCKS / 2; i++)
		blocks[i] = counted(SIZE, &most);
	o = seat.self;
	for (i = 0; i < BLOCKS / 2; i++) {
		s = map_guess_slab(blocks[i]);
		n += (fetch_or_seq_cst(&s->owner, OWNER_PENDING) & OWNER_PENDING) == 0; /* as if its inbox entry were lost */
	}
	CHECK(n >= BLOCKS / 2 / 4 - 2);
	i = load_relaxed(&o->heap->slab_chunks) * (SHRINK_TURN + 1) / SHRINK_TURN + 2;
	while (load_relaxed(&o->heap->slab_chunks) < i)
		CHECK(ash_alloc(900000) != NULL && ash_alloc(1000) != NULL);
	for (n = i = 0; i < BLOCKS / 2; i++)
		n += (load_relaxed(&((struct slab *)map_guess_slab(blocks[i]))->owner) & OWNER_PENDING) != 0;
	CHECK_EQ(n, 0);
	CHECK_EQ(ash_check(), 0);
}

/* ---- slabs of others: of a thread that ended, of all at a fork ---- */

static struct owner *record;
static struct rt_barrier together;

/* Slabs of which half of the slots are free, so that they are on the list of partial ones. */
static void take_half(void)
{
	size_t i;

	for (i = 0; i < BLOCKS / 2; i++)
		CHECK((blocks[i] = ash_alloc(SIZE)) != NULL);
	for (i = 0; i < BLOCKS / 2; i += 2)
		ash_release(blocks[i]);
	record = seat.self;
}

static void end_without_a_word(UNUSED void *argument)
{
	take_half();
	(void)arch_exit(0); /* past the runtime's ash_thread_detach */
}

TEST(takeover_is_bounded, 30)
{
	size_t most = 0, chunks, i;

	ash_release(ash_alloc(1));
	rt_in_thread(end_without_a_word, NULL);
	while (load_acquire(&record->state) != OWNER_VACANT)
		(void)counted(SIZE / 4 * 7, &most);
	rt_print("     taken over: %zu looked at by a call at most\n", most);
	CHECK(most <= MOST);
	/* As many fit into its slabs as were released; a growth in two begins behind its record. */
	chunks = load_relaxed(&heap_default.slab_chunks);
	for (i = 0; i < BLOCKS / 4; i++)
		CHECK(ash_alloc(SIZE) != NULL);
	CHECK(load_relaxed(&heap_default.slab_chunks) <= chunks + BLOCKS / 4 * SIZE / CHUNK_SIZE / 4);
	CHECK_EQ(ash_check(), 0);
}

static void take_and_wait(UNUSED void *argument)
{
	take_half();
	rt_barrier_wait(&together);
	rt_barrier_wait(&together);
}

TEST(fork_is_bounded, 30)
{
	struct rt_thread *thread;
	size_t most = 0;

	together.count = 2;
	thread = rt_thread_start(take_and_wait, NULL);
	rt_barrier_wait(&together);
	take_half();
	IN_CHILD {
		while (most == 0) /* until a slab is needed, which settles the fork */
			(void)counted(200, &most);
		CHECK_EQ(load_acquire(&heap_default.settled), generation_now());
		rt_print("     in a child of fork: %zu looked at\n", most);
		CHECK(most <= MOST);
		CHECK_EQ(ash_check(), 0);
	}
	rt_barrier_wait(&together);
	rt_thread_join(thread);
}
