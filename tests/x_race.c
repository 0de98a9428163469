/* SPDX-License-Identifier: MIT */
/* LDFLAGS: -Wl,--wrap=panic_line */
/*
 * Racing double free: two threads release one block at the same time.  One of
 * them wins; the other release is reported, once, by whoever finds it.  The
 * report does not end the program here: it is counted, and its thread jumps
 * back to where it called the library.
 */
#include <stdatomic.h>

#include "ashlar.h"
#include "mark.h"
#include "owner.h"
#include "release.h"
#include "rt.h"
#include "syscall.h"

/* ---- the blocks of a batch, and what was reported of them ---- */

enum { BATCH = 256, SPINS = 300 };

static struct race {
	void *blocks[BATCH];
	void *kept[BATCH]; /* between them, so that no slab gets empty */
	_Atomic unsigned reports[BATCH];
	_Atomic size_t at[2]; /* how far the two racers are */
	_Atomic bool racing;
	struct rt_barrier barrier;
	size_t size, batches;
} race;

static _Thread_local mark back;
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
	char text[200] = "";
	size_t i;

	memcpy(text, line, length < sizeof text ? length : sizeof text - 1);
	if (rt_strstr(text, "ashlar: release(0x") == NULL || rt_strstr(text, "double free") == NULL)
		rt_fail(__FILE__, __LINE__, text);
	reported = pointer_in(text);
	for (i = 0; i < BATCH && race.blocks[i] != reported; i++)
		;
	CHECK(i < BATCH);
	atomic_fetch_add(&race.reports[i], 1);
	mark_jump(back);
}

/* The report may have come from the middle of a call that had its owner checked out. */
static void seat_mend(void)
{
	if (seat.self != &owner_none)
		seat_give();
}

/* Takes back the remote bit of a slot that is free, too: that has been counted. */
static void forget_double(void *p)
{
	struct place at;

	CHECK(place_find(map_find(p), p, &at));
	fetch_and_acq_rel(&at.slab->remote[at.group],
			  ~(load_relaxed(&at.slab->free[at.group]) & at.bit));
}

static void release(void *p)
{
	struct place at;

	if (mark_set(back) != 0) {
		seat_mend();
		forget_double(reported);
		/*
		 * A visit to a slab left behind that tells of another block comes
		 * after the release; an owner that collects its slab, before it.
		 */
		if (reported == p || !place_find(map_find(p), p, &at) ||
		    seat.open == 0 || !owner_has(seat.self, at.slab))
			return;
	}
	ash_release(p);
}

/* Collects everything; a slot found released twice ends a collection, so again. */
static void collect(void)
{
	while (mark_set(back) != 0) {
		seat_mend();
		forget_double(reported);
		late_reports++;
	}
	struct owner *o = seat_take();

	owner_collect_all(o);
	seat_give();
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

static void batch_make(void)
{
	for (size_t i = 0; i < BATCH; i++) {
		race.blocks[i] = ash_alloc(race.size);
		race.kept[i] = ash_alloc(race.size);
		CHECK(race.blocks[i] != NULL && race.kept[i] != NULL);
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
	return rt_under_qemu() ? natively / 20 : natively;
}

static void end(void)
{
	struct ash_stats st;

	collect();
	CHECK_EQ(ash_check(), 0);
	ash_stats(&st);
	CHECK_EQ(st.blocks, 0);
	CHECK_EQ(st.pending, 0);
}

/* ---- both are strangers to the slab ---- */

static void strangers(size_t size, size_t n, bool collecting)
{
	struct rt_thread *racers[2];

	race.size = size;
	race.batches = n;
	race.barrier.count = 3;
	racers[0] = rt_thread_start(racer_body, NULL);
	racers[1] = rt_thread_start(racer_body, &race);
	for (size_t i = 0; i < n; i++) {
		batch_make();
		rt_barrier_wait(&race.barrier);
		while (collecting && atomic_load(&race.racing)) {
			collect();
			arch_sched_yield(); /* three threads, perhaps two CPUs */
		}
		rt_barrier_wait(&race.barrier);
		/* One who looked before a collection and released after it is found by the next. */
		collect();
		batch_check();
	}
	rt_thread_join(racers[0]);
	rt_thread_join(racers[1]);
	end();
}

TEST(race_of_two_strangers, 60)
{
	strangers(48, batches(3000), false);
	CHECK_EQ(late_reports, 0); /* at once, by the second one */
	strangers(5000, batches(1000), false);
}

TEST(race_of_two_strangers_while_the_owner_collects, 60)
{
	strangers(48, batches(500), true);
	strangers(5000, batches(100), true);
}

/* ---- the owner against a stranger ---- */

static void owner_and_stranger(size_t size, size_t n)
{
	struct rt_thread *stranger;

	race.size = size;
	race.batches = n;
	race.barrier.count = 2;
	stranger = rt_thread_start(racer_body, &race);
	for (size_t i = 0; i < n; i++) {
		batch_make();
		rt_barrier_wait(&race.barrier);
		race_as(0);
		rt_barrier_wait(&race.barrier);
		collect();
		batch_check();
	}
	rt_thread_join(stranger);
	end();
}

TEST(race_of_owner_and_stranger, 60)
{
	owner_and_stranger(48, batches(3500));
	owner_and_stranger(5000, batches(500));
}

/* The stranger has set its bit and not yet the mark when the owner releases: both win. */
static void both_win(size_t size)
{
	struct place at;

	race.size = size;
	batch_make();
	CHECK(place_find(map_find(race.blocks[0]), race.blocks[0], &at));
	fetch_or_ordered(&at.slab->remote[at.group], at.bit);
	release(race.blocks[0]);
	CHECK_EQ(atomic_load(&race.reports[0]), 0);
}

TEST(race_that_both_win_is_told_by_the_next_collection, 10)
{
	both_win(48);
	collect();
	CHECK_EQ(late_reports, 1);
	CHECK_EQ(atomic_load(&race.reports[0]), 1);
	collect();
	CHECK_EQ(late_reports, 1);
	CHECK_EQ(ash_check(), 0);
}

TEST(race_that_both_win_is_told_when_the_slab_goes, 10)
{
	both_win((size_t)40 << 10); /* a slab of its own */
	if (mark_set(back) == 0)
		ash_thread_detach();
	seat_mend();
	CHECK_EQ(atomic_load(&race.reports[0]), 1);
}

/* ---- the owner is gone: who releases visits ---- */

static void leave_body(__attribute__((unused)) void *argument)
{
	batch_make();
}

TEST(race_for_what_a_thread_left, 60)
{
	race.size = 48;
	race.batches = 1;
	race.barrier.count = 2;
	for (size_t i = 0; i < batches(1000); i++) {
		struct rt_thread *racers[2];
		struct owner *o;

		rt_thread_join(rt_thread_start(leave_body, NULL));
		racers[0] = rt_thread_start(racer_body, NULL);
		racers[1] = rt_thread_start(racer_body, &race);
		rt_thread_join(racers[0]);
		rt_thread_join(racers[1]);
		/* A report in the middle of a visit left the record held. */
		for (o = heap_default.owners; o != NULL; o = o->next)
			if (o->state == OWNER_HELD)
				owner_vacate(o);
		collect(); /* as its next thread */
		batch_check();
		ash_thread_detach();
	}
}

int main(int argc, char **argv, __attribute__((unused)) char **envp)
{
	return rt_run_tests(argc, argv);
}
