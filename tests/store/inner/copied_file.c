/* SPDX-License-Identifier: MIT */
/*
 * Copies of a file while others work in it.  As long as these live, a copy is refused as torn; once
 * they are dead, it is refused or is a heap that passes its check, whatever moments its pages are of.  One that was copied while all were stopped can be vouched for.
 */
#include "ashlar_heap.h"
#include "store/process/life.h"
#include "program/copy_of.h"

enum { SIGKILL = 9, SIGSTOP = 19, WUNTRACED = 2, WORKERS = 3, CAPACITY = 32, HELD = 64 };

static int fd;
static long workers[WORKERS];
static size_t bytes;

static void churn(ash_heap *h, struct rt_random *r, size_t calls)
{
	static void *p[HELD];
	size_t i;

	for (i = 0; i < calls; i++) {
		void **at = &p[rt_below(r, HELD)];

		if (*at == NULL) {
			*at = ash_heap_alloc(h, rt_below(r, 16) == 0 ? rt_below(r, 3 * MIB) : 1 + rt_below(r, 5000));
		} else {
			ash_heap_release(h, *at);
			*at = NULL;
		}
	}
	for (i = 0; i < HELD; i++) {
		ash_heap_release(h, p[i]);
		p[i] = NULL;
	}
}

static void begin(void)
{
	_Atomic unsigned *at_work = rt_map_shared(sizeof *at_work);
	struct rt_random r;
	ash_heap *h;
	unsigned i;
	struct arch_stat st;

	fd = (int)arch_memfd_create("original", 0);
	for (i = 0; i < WORKERS; i++) {
		workers[i] = rt_fork();
		if (workers[i] != 0)
			continue;
		rt_end_with_parent();
		do
			h = ash_heap_open_file(fd, CAPACITY * MIB, NULL, NULL);
		while (h == NULL);
		rt_seed(&r, rt_test_seed() + i);
		churn(h, &r, 100);
		(*at_work)++;
		for (;;)
			churn(h, &r, 100000);
	}
	/* The copy is taken once each worker has allocated. */
	while (*at_work < WORKERS)
		rt_sleep(20000000);
	CHECK_EQ(arch_fstat(fd, &st), 0);
	bytes = (size_t)st.length;
	CHECK(bytes >= CAPACITY * MIB);
}

static int nothing(UNUSED void *context, UNUSED void *p, UNUSED size_t size, UNUSED const struct ash_heap_owner *owner)
{
	return 0;
}

/* In a process of its own: the answer of attaching; where it is attached, 10 000 calls work. */
static enum ash_attach tries(int copy)
{
	enum ash_attach why;
	struct rt_random r;
	ash_heap_view *v;
	ash_heap *h;
	long pid = rt_fork();

	if (pid == 0) {
		v = ash_heap_view_file(copy, NULL);
		if (v != NULL) {
			(void)ash_heap_view_check(v);
			(void)ash_heap_view_walk(v, (int (*)(void *, const void *, size_t, const struct ash_heap_owner *))nothing, NULL);
			ash_heap_view_close(v);
		}
		h = ash_heap_attach_file(copy, &why);
		if (h == NULL)
			rt_exit((int)why);
		rt_seed(&r, rt_test_seed());
		(void)ash_heap_walk(h, nothing, NULL);
		CHECK_EQ(ash_heap_check(h), 0);
		churn(h, &r, 10000);
		CHECK_EQ(ash_heap_check(h), 0);
		(void)ash_heap_recover(h);
		(void)ash_heap_trim(h, 0);
		ash_heap_destroy(h);
		rt_exit(ASH_ATTACHED);
	}
	return (enum ash_attach)rt_wait(pid);
}

static void end_of_workers(void)
{
	unsigned i;

	for (i = 0; i < WORKERS; i++) {
		rt_kill(workers[i], SIGKILL);
		(void)rt_wait(workers[i]);
	}
}

TEST(copied_while_others_work, 200)
{
	enum { COPIES = 10 };
	unsigned i, attached = 0, damaged = 0;
	int copy[COPIES];

	if (life_of_thread() >> 22 == 0)
		rt_skip("lives of ended threads cannot be judged without /proc");
	begin();
	for (i = 0; i < COPIES; i++) {
		enum ash_attach why;

		copy[i] = copy_of(fd);
		why = tries(copy[i]);
		if (why != ASH_ATTACH_TORN && why != ASH_ATTACH_NO_HEAP)
			rt_print("     copy %u: answer %d\n", i, (int)why);
		CHECK(why == ASH_ATTACH_TORN || why == ASH_ATTACH_NO_HEAP);
	}
	end_of_workers();
	for (i = 0; i < COPIES; i++) {
		enum ash_attach why = tries(copy[i]);

		attached += why == ASH_ATTACHED;
		damaged += why == ASH_ATTACH_NO_HEAP;
	}
	CHECK_EQ(attached + damaged, COPIES);
	CHECK_EQ(tries(fd), ASH_ATTACHED);
	rt_print("     %u of %u copies are attached once all are dead, the others refused\n", attached, COPIES);
}

/* Copied while all are stopped: it is of one moment, which only the program knows. */
TEST(copied_while_others_are_stopped, 60)
{
	int copy, status;
	unsigned i;

	if (life_of_thread() >> 22 == 0)
		rt_skip("lives of ended threads cannot be judged without /proc");
	begin();
	for (i = 0; i < WORKERS; i++) {
		rt_kill(workers[i], SIGSTOP);
		CHECK_EQ(arch_wait4(workers[i], &status, WUNTRACED, NULL), workers[i]);
	}
	copy = copy_of(fd);
	CHECK_EQ(tries(copy), ASH_ATTACH_TORN);
	CHECK(ash_heap_vouch_file(copy));
	CHECK_EQ(tries(copy), ASH_ATTACHED);
	CHECK_EQ(tries(copy), ASH_ATTACHED);
	end_of_workers();
	CHECK_EQ(tries(copy), ASH_ATTACHED);
	CHECK_EQ(tries(fd), ASH_ATTACHED);
}
