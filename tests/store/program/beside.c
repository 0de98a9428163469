/* SPDX-License-Identifier: MIT */
/*
 * A process attaches to a heap in a file, or opens a view of it, while others change the heap
 * (store/program/beside.h).  The heap is one at every moment, so it attaches.
 */
/* promises: ash_heap_attach_file, ash_heap_view_file, ash_heap_view_check */
#include "store/program/beside.h"

/* ---- the runs ---- */

static bool by_view;

static void one(void)
{
	ash_heap_view *v;
	enum ash_attach why;
	ash_heap *h;

	rt_end_with_parent();
	calls = 0;
	counting = true;
	if (by_view) {
		v = ash_heap_view_file(file, &why);
		CHECK(v != NULL && why == ASH_ATTACHED);
		CHECK(ash_heap_view_check(v));
		counting = false;
		CHECK(ash_heap_view_bound(v, "list") == ash_heap_view_root(v));
		control->calls = calls;
		rt_exit(0);
	}
	h = attach();
	counting = false;
	heap_is_good(h);
	control->calls = calls;
	rt_exit(0);
}

/* One attaches, and is stopped at the calls from `from` to `to`.  Returns how many it made. */
static size_t run(size_t act, size_t from, size_t to)
{
	long helper;
	int status;

	begin();
	control->act = act;
	helper = server_begin();
	stop_from = from;
	stop_to = to;
	stopped = ask;
	status = rt_wait(CHILD(one()));
	if (status != 0)
		rt_print("     %s: others' act \"%s\" at calls %zu to %zu, instruction %zu\n",
			 by_view ? "view" : "attach", acts[act].name, from, to, control->dies_at);
	CHECK_EQ(status, 0);
	rt_kill(helper, 9);
	(void)rt_wait(helper);
	arch_close(file);
	return control->calls;
}

static void each_call(void)
{
	size_t act, k, n, apart = rt_under_qemu() ? 23 : 1, sum = 0;

	control->dies_at = SIZE_MAX;
	for (act = 0; act < ACTS; act++) {
		n = run(act, SIZE_MAX, SIZE_MAX);
		CHECK(n > 5);
		for (k = 1 + act % apart; k <= n; k += apart, sum++)
			(void)run(act, k, k);
		/* Without rest: at all of them, from each on; a second each under QEMU, where the calls are the same. */
		if (rt_under_qemu() && act != EXTENDS)
			continue;
		(void)run(act, 1, SIZE_MAX);
		(void)run(act, 3, SIZE_MAX);
		sum += 2;
	}
	rt_print("     %zu runs of %u acts\n", sum, (unsigned)ACTS);
}

TEST(beside_attach, 120)
{
	control = shared_page();
	each_call();
}

TEST(beside_view, 120)
{
	control = shared_page();
	by_view = true;
	each_call();
}

/* At each call another process dies, at an instruction of its own. */
TEST(beside_deaths, 300)
{
	size_t act, k, n, steps, apart = rt_in_full() ? 2 : 31, sum = 0;
	struct rt_random r;

	trap_need();
	rt_seed(&r, rt_test_seed());
	control = shared_page();
	for (act = 0; act < ACTS; act++) {
		control->dies_at = SIZE_MAX - 1;
		n = run(act, 5, 5);
		steps = control->steps;
		CHECK(n > 5 && steps > 0);
		for (k = 1 + rt_below(&r, apart); k <= n; k += apart, sum++) {
			control->dies_at = rt_below(&r, steps);
			(void)run(act, k, k);
		}
	}
	rt_print("     %zu deaths\n", sum);
}

/* ---- without a schedule: all at once ---- */

static _Noreturn void worker(unsigned act)
{
	rt_end_with_parent();
	theirs = attach();
	for (;; turn++) {
		acts[act].act();
		control->done++;
	}
}

static void hot(const unsigned *which, unsigned workers, size_t attaches)
{
	enum { MOST = 4 };
	long pid[MOST];
	unsigned w;
	size_t i;

	begin();
	control->done = 0;
	for (w = 0; w < workers; w++)
		pid[w] = CHILD(worker(which[w]));
	stop_from = SIZE_MAX;
	for (i = 0; i < attaches; i++) {
		int status = rt_wait(CHILD(one()));

		if (status != 0)
			rt_print("     attach %zu beside %u acts\n", i, (unsigned)control->done);
		CHECK_EQ(status, 0);
	}
	for (w = 0; w < workers; w++) {
		rt_kill(pid[w], 9);
		(void)rt_wait(pid[w]);
	}
	arch_close(file);
}

TEST(beside_hot, 120)
{
	size_t attaches = rt_in_full() ? 3000 : rt_under_qemu() ? 10 : 100;

	control = shared_page();
	hot((const unsigned[]){0, 2, 4}, 3, attaches);
	hot((const unsigned[]){0, 0, 0}, 3, attaches);
	hot((const unsigned[]){2, 2, 6}, 3, attaches);
}
