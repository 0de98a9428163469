/* SPDX-License-Identifier: MIT */
/*
 * vfork at each instruction boundary of a call in a shared heap, and a child of vfork that ends at each
 * boundary of its own: the parent goes on, and once it has ended, another process recovers all that there is.
 */
/* promises: ash_heap_recover, ash_heap_alloc, ash_heap_release */
#include "store/inner/leaving.h"
#include "program/child.h"
#include "support/blocks.h"
#include "support/handler_at_step.h"

enum { KEPT = 20, NOT_REACHED = 3, LEFT = 64, PIECE = 100000 };

/* How many blocks of a size the whole heap has. */
static size_t pieces(void)
{
	static void *p[100];
	size_t n = 0;

	while ((p[n] = ash_heap_alloc(heap, PIECE)) != NULL)
		n++;
	for (size_t i = 0; i < n; i++)
		ash_heap_release(heap, p[i]);
	return n;
}

static unsigned char *kept[KEPT];

static void parent_has_blocks(void)
{
	for (size_t i = 0; i < KEPT; i++) {
		kept[i] = NOT_NULL(ash_heap_alloc(heap, 300));
		memset(kept[i], (int)i, 300);
	}
}

/* What the child was does not make its parent's record a dead one's. */
static void parent_goes_on(void)
{
	CHECK_EQ(recovered_by_another(), 0);
	work(5);
	CHECK_EQ(ash_heap_check(heap), 0);
	for (size_t i = 0; i < KEPT; i++) {
		for (size_t k = 0; k < 300; k++)
			CHECK_EQ(kept[i][k], i);
		ash_heap_release(heap, kept[i]);
	}
	CHECK_EQ(ash_heap_check(heap), 0);
}

/* ---- at each boundary of the parent's call ---- */

static void child_works(UNUSED void *argument)
{
	void *p = NOT_NULL(ash_heap_alloc(heap, 300)), *large = NOT_NULL(ash_heap_zalloc(heap, 1, 40000));

	memset(p, 0xa5, 300);
	ash_heap_release(heap, large);
	ash_heap_release(heap, p);
}

DOES(act_vfork, CHECK_EQ(in_vfork_child(0, child_works, NULL), 0));
DOES(call_pair, ash_heap_release(heap, ash_heap_alloc(heap, 300)));
DOES(call_large, ash_heap_release(heap, ash_heap_alloc(heap, 50000)));
DOES(call_span, ash_heap_release(heap, ash_heap_alloc(heap, 3 * MIB / 2)));

static void at_each_boundary(void (*call)(void), size_t step)
{
	bool more = true;
	size_t all;

	natively_only();
	heap_make();
	all = pieces();
	parent_has_blocks();
	step_begin(act_vfork);
	for (size_t k = rt_test_seed() % step; more; k += rt_in_full() ? 1 : step)
		more = with_act_at(k, call);
	rt_print("     %zu boundaries\n", (size_t)boundary);
	parent_goes_on();
	CHECK_EQ(stats_of(heap).blocks, 1); /* `left` */
	CHECK_EQ(pieces(), all);
}

TEST_CALL(inner_away_vfork_at_each_boundary_of_a_pair, 30, at_each_boundary(call_pair, 3));
TEST_CALL(inner_away_vfork_at_each_boundary_of_a_large_block, 30, at_each_boundary(call_large, 23));
TEST_CALL(inner_away_vfork_at_each_boundary_of_a_span, 30, at_each_boundary(call_span, 97));

/* ---- at each boundary of the child's call ---- */

static void (*childs_call)(void);
static size_t end_at;

static void ends(void)
{
	for (;;)
		arch_exit_group(0);
}

static void child_ends_within(UNUSED void *argument)
{
	(void)with_act_at(end_at, childs_call);
	rt_exit(NOT_REACHED);
}

static struct {
	void *p[LEFT];
	size_t n;
} there;

static int is_there(UNUSED void *context, void *block, UNUSED size_t size, UNUSED const struct ash_heap_owner *owner)
{
	CHECK(there.n < LEFT);
	there.p[there.n++] = block;
	return 0;
}

/* A block at most is left of it; all else is there again. */
static void nothing_is_lost(size_t all)
{
	CHECK(ash_heap_recover(heap) <= 2);
	CHECK_EQ(ash_heap_check(heap), 0);
	there.n = 0;
	CHECK_EQ(ash_heap_walk(heap, is_there, NULL), 0);
	CHECK(there.n <= 2); /* `left` */
	for (size_t i = 0; i < there.n; i++)
		if (there.p[i] != (void *)left)
			ash_heap_release(heap, there.p[i]);
	CHECK_EQ(pieces(), all);
	CHECK_EQ(ash_heap_check(heap), 0);
}

static void ends_at_each_boundary(void (*call)(void), size_t step)
{
	int status = 0;
	size_t all;

	natively_only();
	heap_make();
	all = pieces();
	childs_call = call;
	step_begin(ends);
	for (end_at = rt_test_seed() % step; status != NOT_REACHED; end_at += rt_in_full() ? 1 : step) {
		long pid;

		ash_heap_thread_detach(heap);
		pid = rt_fork();
		if (pid == 0) {
			parent_has_blocks();
			status = in_vfork_child(0, child_ends_within, NULL);
			CHECK(status == 0 || status == NOT_REACHED);
			stepping = false;
			parent_goes_on();
			rt_exit(status);
		}
		status = rt_wait(pid);
		CHECK(status == 0 || status == NOT_REACHED);
		nothing_is_lost(all);
	}
}

TEST_CALL(inner_away_vfork_ends_in_a_pair, 30, ends_at_each_boundary(call_pair, 11));
TEST_CALL(inner_away_vfork_ends_in_a_large_block, 30, ends_at_each_boundary(call_large, 67));
TEST_CALL(inner_away_vfork_ends_in_a_span, 30, ends_at_each_boundary(call_span, 97));
