/* SPDX-License-Identifier: MIT */
/*
 * One that opens a new file while another one makes the heap in it: it waits for the maker, until that
 * is done, or dead; and not for one that is stopped.
 */
/* promises: ash_heap_create_file, ash_heap_open_file */
#include "store/program/claim.h"

enum { SIGCONT = 18, SIGSTOP = 19, WUNTRACED = 2 };

static struct {
	_Atomic bool begins; /* the second one, which is there from the beginning */
	_Atomic bool waits;  /* it has found the first at work, and pauses        */
	_Atomic bool ended;
} *seen;

static void waits(void)
{
	seen->waits = true;
	rt_sleep(1000000);
}

/* Not a child of the first one, whose mapping of the file it would have. */
static long second_stands_by(void)
{
	enum outcome made;
	long pid;

	seen->begins = seen->waits = seen->ended = false;
	pid = rt_fork();
	if (pid != 0)
		return pid;
	rt_end_with_parent();
	while (!seen->begins)
		rt_sleep(20000);
	paused = waits;
	made = make_one();
	seen->ended = true;
	rt_exit((int)made);
}

/* The second one begins now; it is beside the first until it waits or is through. */
static void second_begins(void)
{
	seen->begins = true;
	while (!seen->waits && !seen->ended)
		rt_sleep(20000);
}

/* Then the first one dies where it is. */
static void dies_beside(void)
{
	second_begins();
	rt_exit(50);
}

/* At each call of the first one; which is stopped there as `at` says, and ends as in `one`. */
static void beside(void (*at)(void), long one)
{
	size_t k, count, waited = 0;

	seen = rt_map_shared(sizeof *seen);
	by_open = true;
	count = calls_of_one();
	for (k = 1; k <= count; k = next_call(k)) {
		long first, two;

		begin();
		stop_at = k;
		two = second_stands_by();
		first = CHILD(stopped = at; rt_exit(make_one() <= ATTACHED ? 0 : 1));
		CHECK_EQ(rt_wait(first), one);
		CHECK(rt_wait(two) <= ATTACHED);
		waited += seen->waits;
		heap_has(CAPACITY / CHUNK_SIZE - 2);
		arch_close(file);
	}
	rt_print("     %zu calls, waited at %zu\n", count, waited);
	CHECK(waited > 0);
}

TEST_CALL(claim_waits_for_the_maker, 30, beside(second_begins, 0));
TEST_CALL(claim_waits_for_one_that_dies, 30, beside(dies_beside, 50));

/* The first one is stopped half-way: the second is told so, and gets the heap when that has gone on. */
static void stops(void)
{
	CHECK_EQ(arch_kill(arch_getpid(), SIGSTOP), 0);
}

TEST(claim_waits_for_none_that_is_stopped, 30)
{
	size_t k, count, told = 0;
	int status;

	by_open = true;
	count = calls_of_one();
	for (k = 1; k <= count; k = next_call(k)) {
		enum outcome two;
		long pid;

		begin();
		stop_at = k;
		pid = CHILD(rt_end_with_parent(); stopped = stops; rt_exit((int)make_one()));
		CHECK(arch_wait4(pid, &status, WUNTRACED, NULL) == pid && (status & 0xff) == 0x7f);
		two = make_beside();
		CHECK(two != NOTHING);
		told += two == UNFINISHED;
		CHECK_EQ(arch_kill(pid, SIGCONT), 0);
		CHECK_EQ(rt_wait(pid), two == MADE ? ATTACHED : MADE);
		CHECK_EQ(make_beside(), ATTACHED);
		arch_close(file);
	}
	rt_print("     %zu calls, told at %zu\n", count, told);
	CHECK(told > 0);
}
