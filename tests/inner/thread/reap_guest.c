/* SPDX-License-Identifier: MIT */
/*
 * Threads that end, at any instruction, in a call that holds a record of another thread as a guest, or a
 * slab: what they held is inherited.
 */
#include "backend/map.h"
#include "inner/thread_at.h"
#include "support/blocks.h"
#include "support/handler_at_step.h"
#include "thread/refill.h"
#include "thread/seating.h"
#include "thread/settle.h"

enum { SIZE = 2000, BLOCKS = 100 };

static void *left[BLOCKS];
static struct owner *vacated;

/* Leaves a vacant record with slabs that are partly used. */
static void leaves(void)
{
	unsigned i;

	alloc_each(left, BLOCKS, SIZE);
	for (i = 0; i < BLOCKS; i += 3)
		ash_release(left[i]);
	vacated = seat.self;
	ash_thread_detach();
}

static void release_left(void)
{
	struct ash_block b;
	unsigned i;

	for (i = 0; i < BLOCKS; i++)
		if (i % 3 != 0 && ash_find(left[i], &b) == ASH_TAKEN)
			ash_release(left[i]);
}

static void works(void)
{
	ash_release(ash_alloc(100));
	ash_thread_detach();
}

/* No record and no slab is held by a thread that has ended, and nothing is missing. */
static void is_inherited(void)
{
	struct owner *o;

	thread_at(1, works);
	(void)reap_all(&heap_default, seat.self);
	for (o = heap_default.owners; o != NULL; o = o->next)
		CHECK(o == seat.self || load_acquire(&o->state) == OWNER_VACANT);
	release_left();
	(void)ash_trim(0);
	CHECK_EQ(ash_check(), 0);
	nothing_is_left();
	CHECK_EQ(stats_now().slabs, 0);
}

static void ends_here(void)
{
	for (;;)
		(void)arch_exit(0);
}

static size_t step;
static bool ended;
static void (*call)(void);

static void is_stepped(void)
{
	void *mine = ash_alloc(SIZE); /* with a record of its own, because the vacant record is held */

	ash_release(mine);
	owner_vacate(vacated);
	ended = true;
	ended = with_act_at(step, call);
	ended = false;
}

static void at_each_step(void (*prepare)(void), void (*stepped)(void))
{
	size_t few = rt_under_qemu() ? 2 : 8, n = 0; /* each boundary would take minutes */

	call = stepped;
	step_begin(ends_here);
	ash_release(ash_alloc(1));
	for (step = 0;; step += 1 + step / few, n++) {
		thread_at(0, leaves);
		CHECK(owner_hold(vacated));
		prepare();
		thread_at(1, is_stepped);
		if (!ended)
			break;
		is_inherited();
	}
	rt_print("     %zu ends in a call of some %zu instructions\n", n, step);
	CHECK(n > 3);
	release_left();
	(void)ash_trim(0);
	CHECK_EQ(ash_check(), 0);
}

static void adopts(void)
{
	struct owner *o = seat_take();

	adopt_slabs(o, class_of(SIZE), ADOPT_ALL);
	seat_give(o);
}

TEST_CALL(reap_guest_that_adopts, 60, at_each_step(act_not, adopts));

/* All of the first slab's blocks: its last group's release visits the record. */
static void visits(void)
{
	const struct slab *s = map_guess_slab(left[1]);
	unsigned i;

	for (i = 0; i < BLOCKS; i++)
		if (i % 3 != 0 && map_guess_slab(left[i]) == s)
			ash_release(left[i]);
}

TEST_CALL(reap_guest_that_visits, 60, at_each_step(act_not, visits));

/* A thread that ends while it purges a slab of another one. */
static void purges(void)
{
	size_t room = 0;
	struct owner *o = seat_take();

	(void)slabs_purge_others(&heap_default, o, &room);
	seat_give(o);
}

TEST_CALL(reap_guest_that_purges, 60, at_each_step(act_not, purges));

/* The same, by a release: as if so much that others emptied stayed already that no more may. */
static void empties(void)
{
	bool purged = false;
	unsigned i;

	CHECK(owner_hold(vacated)); /* a holder that sleeps */
	for (i = 0; i < BLOCKS; i++) {
		store_relaxed(&heap_default.idle.hand, 0);
		store_relaxed(&heap_default.idle.told, 64);
		store_relaxed(&heap_default.idle.kept, (uint64_t)1 << 30);
		if (i % 3 != 0)
			ash_release(left[i]);
		purged |= load_relaxed(&map_guess_slab(left[0])->purged) == SLAB_CLEAN;
	}
	CHECK(purged);
	visit_end(vacated);
}

TEST_CALL(reap_guest_that_empties, 60, at_each_step(act_not, empties));
