/* SPDX-License-Identifier: MIT */
/*
 * Two racers release the blocks of a batch, each block at the same time.  For a
 * program whose LDFLAGS wrap panic_line: reports are counted by block, and the
 * thread that makes one jumps back to where it called the library.
 */
#ifndef TESTS_PROGRAM_RACE_H
#define TESTS_PROGRAM_RACE_H

#include <stdatomic.h>

#include "ashlar.h"
#include "front/slot.h"
#include "long_jump.h"
#include "rt.h"
#include "support/blocks.h"
#include "syscall.h"
#include "thread/owner.h"
#include "thread/seating.h"
#include "thread/settle.h"

enum { BATCH = 256, SPINS = 300, RACE_SECONDS = 60, RACE_LEAST = 10 };

static struct race {
	void *blocks[BATCH];
	void *kept[BATCH]; /* between them, so that no slab gets empty */
	_Atomic unsigned reports[BATCH];
	_Atomic size_t at[2]; /* how far the two racers are */
	_Atomic bool racing;
	struct rt_barrier barrier;
	size_t size;
	_Atomic size_t batches;
	uint64_t until; /* then it ends, with fewer */
} race;

static _Thread_local jump back;
static _Thread_local size_t late_reports;
static _Thread_local void *reported;

_Noreturn void __wrap_panic_line(const char *line, size_t length);

static void *pointer_in(const char *line)
{
	uintptr_t p = 0;

	for (line = rt_strstr(line, "(0x") + 3; *line != ')'; line++)
		p = p * 16 + (uintptr_t)(*line <= '9' ? *line - '0' : *line - 'a' + 10);
	return (void *)p; /* NOLINT: that is what it was printed from */
}

_Noreturn void __wrap_panic_line(const char *line, size_t length)
{
	char text[256] = "";
	size_t i;

	memcpy(text, line, length < sizeof text ? length : sizeof text - 1);
	if (rt_strstr(text, "ashlar: ash_release(0x") == NULL || rt_strstr(text, "double free") == NULL)
		rt_fail(__FILE__, __LINE__, text);
	reported = pointer_in(text);
	for (i = 0; i < BATCH && race.blocks[i] != reported; i++)
		;
	CHECK(i < BATCH);
	atomic_fetch_add(&race.reports[i], 1);
	jump_back(back);
}

/* The report may have come from the middle of a call that had its owner checked out. */
static void seat_mend(void)
{
	if (seat.self != owner_none)
		seat_open();
}

/* Takes back the remote bit of a slot that is free, too: that has been counted. */
static void forget_double(void *p)
{
	struct slot_ref at;

	CHECK(slot_find(map_find(p), p, &at));
	fetch_and_acq_rel(&at.slab->remote[at.group],
			  ~(load_relaxed(&at.slab->free[at.group]) & at.bit));
}

static void release(void *p)
{
	struct slot_ref at;

	if (jump_set(back) != 0) {
		seat_mend();
		forget_double(reported);
		/*
		 * A visit to a slab left behind that tells of another block comes
		 * after the release; an owner that collects its slab, before it.
		 */
		if (reported == p || !slot_find(map_find(p), p, &at) ||
		    seat.open == 0 || !owner_has(seat.self, at.slab))
			return;
	}
	ash_release(p);
}

/* Collects everything; a slot found released twice ends a collection, so again. */
static void collect(void)
{
	while (jump_set(back) != 0) {
		seat_mend();
		forget_double(reported);
		late_reports++;
	}
	struct owner *o = seat_take();

	shrink_all(o);
	seat_open();
}

/* In step with the other racer, block by block. */
static void race_as(unsigned self)
{
	for (size_t i = 0; i < BATCH; i++) {
		atomic_store(&race.at[self], i + 1);
		for (unsigned n = 0; atomic_load(&race.at[1 - self]) < i + 1; n++)
			if (n >= SPINS)
				arch_sched_yield();
		release(race.blocks[i]);
	}
}

static void batches_begin(size_t n)
{
	race.batches = n;
	race.until = rt_now() + RACE_SECONDS * (uint64_t)1000000000;
}

/*
 * Each block is a step that both racers take, which on a busy machine costs others' time slices:
 * after a minute the batch that comes is the last.  Called before the racers are let go, who look
 * at the number when they have run.
 */
static void batches_go_on(size_t i)
{
	if (i >= RACE_LEAST && i + 1 < race.batches && rt_now() >= race.until) {
		rt_print("     a busy machine: %zu batches of %zu\n", i + 1, (size_t)race.batches);
		race.batches = i + 1;
	}
}

static void batch_make(void)
{
	for (size_t i = 0; i < BATCH; i++) {
		race.blocks[i] = NOT_NULL(ash_alloc(race.size));
		race.kept[i] = NOT_NULL(ash_alloc(race.size));
		atomic_store(&race.reports[i], 0);
	}
	atomic_store(&race.at[0], 0);
	atomic_store(&race.at[1], 0);
	atomic_store(&race.racing, true);
}

static void batch_check(void)
{
	for (size_t i = 0; i < BATCH; i++)
		CHECK_EQ(atomic_load(&race.reports[i]), 1);
	for (size_t i = 0; i < BATCH; i++)
		ash_release(race.kept[i]);
}

static void racer_body(void *self)
{
	for (size_t n = 0; n < race.batches; n++) {
		rt_barrier_wait(&race.barrier); /* the batch is there */
		race_as(self == NULL ? 0 : 1);
		atomic_store(&race.racing, false);
		rt_barrier_wait(&race.barrier); /* and raced for */
	}
}

static size_t batches(size_t natively)
{
	return rt_under_qemu() ? natively / 20 : rt_in_full() ? natively : natively / 3;
}

static void end(void)
{
	collect();
	CHECK_EQ(ash_check(), 0);
	nothing_is_left();
}

#endif
