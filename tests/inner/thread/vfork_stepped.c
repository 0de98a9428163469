/* SPDX-License-Identifier: MIT */
/*
 * vfork at each instruction boundary of a call, by a handler; and a child of vfork that ends, or calls exec,
 * at each boundary of its own call.  Its memory is the parent's, which goes on.
 */
/* promises: ash_alloc, ash_release, ash_resize, ash_zalloc */
#include "program/child.h"
#include "support/blocks.h"
#include "support/handler_at_step.h"

enum { KEPT = 40, MADE = 200, EXEC_EACH = 8, EXEC_FAILED = 127, NOT_REACHED = 3 };

long arch_execve(const char *path, char *const *arguments, char *const *environment);

static uint64_t kept[KEPT];
static size_t the_size;

/* A thread of the parent, whose record is its own whatever the child does. */
static struct rt_barrier turns;
static struct rt_thread *other;

/* No new block is another one, nor is it there twice. */
static void takes(uint64_t *made)
{
	for (size_t i = 0; i < MADE; i++)
		made[i] = stamp_set(ash_alloc(the_size), the_size, 1000 + i);
	rt_barrier_wait(&turns);
	for (size_t i = 0; i < MADE; i++)
		stamp_release(made[i]);
}

static void lives(UNUSED void *argument)
{
	static uint64_t its[KEPT], made[MADE];

	for (size_t i = 0; i < KEPT; i++)
		its[i] = stamp_set(ash_alloc(the_size), the_size, i);
	rt_barrier_wait(&turns);
	rt_barrier_wait(&turns);
	takes(made);
	for (size_t i = 0; i < KEPT; i++)
		stamp_release(its[i]);
}

/* Each second one of two slabs' blocks is the parent's. */
static void parent_has_blocks(void)
{
	turns = (struct rt_barrier){.count = 2};
	other = NOT_NULL(rt_thread_start(lives, NULL));
	rt_barrier_wait(&turns);
	for (size_t i = 0; i < KEPT; i++) {
		void *between = ash_alloc(the_size);

		kept[i] = stamp_set(ash_alloc(the_size), the_size, i);
		ash_release(between);
	}
}

/* All are whole, as are those that come; then nothing is left but `lost` blocks. */
static void parent_goes_on(size_t lost)
{
	static uint64_t made[MADE];

	rt_barrier_wait(&turns);
	takes(made);
	rt_thread_join(other);
	for (size_t i = 0; i < KEPT; i++)
		stamp_release(kept[i]);
	CHECK_EQ(ash_check(), 0);
	CHECK(stats_now().blocks <= lost);
	(void)ash_trim(0);
	CHECK(stats_now().blocks <= lost && ash_check() == 0);
}

static void ends(bool by_exec)
{
	char *arguments[] = {"child", "-" /* none of the tests */, NULL}, *environment[] = {NULL};

	if (by_exec) {
		arch_close(1);
		(void)arch_execve("/proc/self/exe", arguments, environment);
		arch_exit_group(EXEC_FAILED);
	}
	for (;;)
		arch_exit_group(0);
}

/* ---- at each boundary of the parent's call ---- */

static uint64_t childs[2]; /* the block that it leaves, in place of its predecessor's */

static void child_works(UNUSED void *argument)
{
	uint64_t own = stamp_set(ash_zalloc(1, the_size), the_size, 1), large = stamp_set(ash_alloc(40000), 40000, 2);

	stamp_release(large);
	stamp_release(own);
	for (unsigned i = 0; i < 2; i++) {
		own = stamp_set(ash_alloc((2 * i + 1) * the_size), (2 * i + 1) * the_size, 3);
		if (childs[i] != 0)
			stamp_release(childs[i]);
		childs[i] = own;
	}
	ends(boundary % EXEC_EACH == 0);
}

DOES(act_vfork, CHECK_EQ(in_vfork_child(0, child_works, NULL), 0));
DOES(call_pair, ash_release(ash_alloc(the_size)));
DOES(call_resize, ash_release(ash_resize(ash_zalloc(1, the_size), 3 * the_size)));

/* Slabs are made, get full and are given back. */
static void call_slabs(void)
{
	static void *p[5];

	alloc_each(p, 5, the_size);
	release_each(p, 5);
}

static void at_each_boundary(void (*call)(void), size_t size, size_t step)
{
	bool more = true;

	natively_only();
	the_size = size;
	parent_has_blocks();
	step_begin(act_vfork);
	for (size_t k = rt_test_seed() % step; more; k += rt_in_full() ? 1 : step)
		more = with_act_at(k, call);
	rt_print("     %zu boundaries\n", (size_t)boundary);
	for (unsigned i = 0; i < 2; i++)
		stamp_release(childs[i]);
	parent_goes_on(0);
}

TEST_CALL(vfork_stepped_at_each_boundary_of_a_pair, 30, at_each_boundary(call_pair, 100, 1));
TEST_CALL(vfork_stepped_at_each_boundary_of_slabs, 30, at_each_boundary(call_slabs, 9000, 31));
TEST_CALL(vfork_stepped_at_each_boundary_of_a_resize, 30, at_each_boundary(call_resize, 100, 3));

/* ---- at each boundary of the child's call ---- */

static void (*childs_call)(void);
static size_t end_at;

DOES(act_end, ends(end_at % EXEC_EACH == 0));

static void child_ends_within(UNUSED void *argument)
{
	(void)with_act_at(end_at, childs_call);
	rt_exit(NOT_REACHED);
}

/* What the child was in keeps a block at most, as ashlar.h says; its parent starts afresh each time, as a fork. */
static void ends_at_each_boundary(void (*call)(void), size_t size, size_t blocks, size_t step)
{
	int status = 0;

	natively_only();
	the_size = size;
	childs_call = call;
	step_begin(act_end);
	for (end_at = rt_test_seed() % step; status != NOT_REACHED; end_at += rt_in_full() ? 1 : step) {
		long pid = rt_fork();

		if (pid == 0) {
			parent_has_blocks();
			status = in_vfork_child(0, child_ends_within, NULL);
			CHECK(status == 0 || status == NOT_REACHED);
			stepping = false;
			parent_goes_on(blocks);
			rt_exit(status);
		}
		status = rt_wait(pid);
		CHECK(status == 0 || status == NOT_REACHED);
	}
}

TEST_CALL(vfork_stepped_child_ends_in_a_pair, 30, ends_at_each_boundary(call_pair, 100, 1, 1));
TEST_CALL(vfork_stepped_child_ends_in_slabs, 30, ends_at_each_boundary(call_slabs, 9000, 5, 67));
TEST_CALL(vfork_stepped_child_ends_in_a_resize, 30, ends_at_each_boundary(call_resize, 100, 2, 67));
