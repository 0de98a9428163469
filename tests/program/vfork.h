/* SPDX-License-Identifier: MIT */
/*
 * Ids that a test chooses, a child of vfork that works, and a thread whose record must stay its
 * own.
 */
#ifndef TESTS_PROGRAM_VFORK_H
#define TESTS_PROGRAM_VFORK_H

#include "backend/map.h"
#include "heaps/instance.h"
#include "program/audit.h"
#include "program/child.h"
#include "slab/slab.h"
#include "heaps/seats.h"
#include "support/wrap.h"
#include "thread/seat.h"
#include "thread/seating.h"

/* What all are told instead, so that a child of vfork seems to be its parent's first thread. */
static long told;

WRAP(long, arch_gettid, (void))
{
	return told != 0 ? told : __real_arch_gettid();
}

WRAP(long, arch_getpid, (void))
{
	return told != 0 ? told : __real_arch_getpid();
}

WRAP(long, arch_getppid, (void))
{
	return told != 0 ? 0 : __real_arch_getppid();
}

enum { BLOCKS = 400 };

/* Blocks of several slabs, of the caller's record; each with its own bytes. */
static void work(unsigned char seed)
{
	static _Thread_local unsigned char *blocks[BLOCKS];
	unsigned i;

	for (i = 0; i < BLOCKS; i++) {
		blocks[i] = NOT_NULL(ash_alloc(600 + i));
		memset(blocks[i], (unsigned char)(seed + i), 600 + i);
	}
	for (i = 0; i < BLOCKS; i++) {
		holds(blocks[i], 600 + i, (unsigned char)(seed + i));
		ash_release(blocks[i]);
	}
}

/* ---- another thread whose record must stay its own ---- */

static struct owner *others;
static struct rt_barrier turns;

static void lives(UNUSED void *argument)
{
	work(1);
	others = seat.self;
	rt_barrier_wait(&turns);
	rt_barrier_wait(&turns);
	CHECK_EQ(others->state & ~OWNER_GUEST, others->state); /* held, as its own */
	CHECK(seat.self == others && others->state != OWNER_VACANT);
	work(2);
}

static struct rt_thread *start_other(void)
{
	struct rt_thread *thread;

	turns = (struct rt_barrier){.count = 2};
	thread = NOT_NULL(rt_thread_start(lives, NULL));
	rt_barrier_wait(&turns);
	return thread;
}

static void end_other(struct rt_thread *thread)
{
	rt_barrier_wait(&turns);
	rt_thread_join(thread);
}

static void *from_child;

/* Works, asks for the ended, and leaves a block behind. */
static void child_works(UNUSED void *argument)
{
	work(3);
	from_child = NOT_NULL(ash_alloc(100));
	CHECK_EQ(reap_all(&heap_default, seat.self), 0);
	CHECK_EQ(ash_check(), 0);
}

static void parent_goes_on(void)
{
	struct owner *mine = seat.self;

	CHECK(mine != owner_none);
	CHECK(load_acquire(&mine->state) != OWNER_VACANT);
	ash_release(from_child);
	work(4);
	CHECK(seat.self == mine);
	audit();
}

#endif
