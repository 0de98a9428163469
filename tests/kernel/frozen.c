/* SPDX-License-Identifier: MIT */
/*
 * cgroup.freeze stops all processes of a shared heap at once, wherever they are.  The others work on; and a copy
 * of the file made meanwhile is a heap as a kill of those processes leaves it.
 */
/* promises: ash_heap_seal, ash_heap_replace, ash_heap_recover, ash_heap_attach_file */
#include "ashlar_heap.h"
#include "kernel.h"
#include "program/copy_of.h"
#include "rt.h"
#include "syscall.h"

enum { WORKERS = 3, SLOTS = 40, COPIES = 20, CAPACITY = 16 << 20, AT_HERE = -100, MODE_FOLDER = 0755 };
enum { HEAD = 2 };
#define GROUP "/sys/fs/cgroup/frozen"

/* The kernel says when the last process has stopped, or gone on. */
static void freeze(bool on)
{
	CHECK(rt_write_file(GROUP "/cgroup.freeze", on ? "1" : "0"));
	do
		rt_yield();
	while (rt_number_of(GROUP "/cgroup.events", "frozen ") != on);
}

static uint64_t word_of(uint64_t key, size_t i)
{
	return (key + i) * 0x9e3779b97f4a7c15u;
}

/* A block has its words, a key, and what follows from that. */
static void publish(ash_heap *h, struct rt_random *r, unsigned slot)
{
	uint64_t *root = NOT_NULL(ash_heap_root(h)), words = HEAD + (1u << rt_below(r, 14));
	void *old = ash_heap_load(h, &root[slot]);
	uint64_t *fresh;

	if (rt_below(r, 4) == 0) {
		CHECK_EQ(ash_heap_replace(h, &root[slot], old, NULL), ASH_SLOT_DONE);
		return;
	}
	fresh = NOT_NULL(ash_heap_draft(h, words * 8));
	fresh[0] = words;
	fresh[1] = rt_next(r);
	for (size_t i = HEAD; i < words; i++)
		fresh[i] = word_of(fresh[1], i);
	CHECK_EQ(ash_heap_replace(h, &root[slot], old, fresh), ASH_SLOT_DONE);
}

static int count_block(void *count, UNUSED void *p, UNUSED size_t size, UNUSED const struct ash_heap_owner *owner)
{
	++*(unsigned *)count;
	return 0;
}

/* Nobody works in it: exactly the blocks of its slots, and the root's. */
static void is_whole(ash_heap *h)
{
	const uint64_t *root = NOT_NULL(ash_heap_root(h));
	unsigned n = 1, there = 0;

	CHECK_EQ(ash_heap_check(h), 0);
	for (unsigned slot = 0; slot < (WORKERS + 1) * SLOTS; slot++) {
		const uint64_t *p = ash_heap_load(h, &root[slot]);

		n += p != NULL;
		for (size_t i = HEAD; p != NULL && i < p[0]; i++)
			CHECK_EQ(p[i], word_of(p[1], i));
	}
	(void)ash_heap_walk(h, count_block, &there);
	CHECK_EQ(there, n);
}

static long worker_start(ash_heap *h, unsigned number)
{
	const long pid = rt_fork();
	struct rt_random r;

	CHECK(pid >= 0);
	if (pid > 0)
		return pid;
	rt_end_with_parent();
	CHECK(rt_write_file(GROUP "/cgroup.procs", "0"));
	rt_seed(&r, rt_test_seed() + number);
	for (;;)
		publish(h, &r, number * SLOTS + (unsigned)rt_below(&r, SLOTS));
}

TEST(frozen_processes, 600)
{
	long worker[WORKERS];
	int file = rt_memory_file("heap"), copy[COPIES];
	enum ash_attach why;
	struct rt_random r;
	ash_heap *h;

	(void)arch_mkdirat(AT_HERE, GROUP, MODE_FOLDER);
	if (!rt_write_file(GROUP "/cgroup.freeze", "0"))
		rt_skip("the kernel has no freezer of cgroups");
	h = NOT_NULL(ash_heap_create_file(file, CAPACITY, NULL));
	ash_heap_set_root(h, NOT_NULL(ash_heap_zalloc(h, (size_t)(WORKERS + 1) * SLOTS, 8)));
	rt_seed(&r, rt_test_seed());
	for (unsigned i = 0; i < WORKERS; i++)
		worker[i] = worker_start(h, i + 1);
	for (unsigned i = 0; i < COPIES; i++) {
		rt_sleep(rt_below(&r, 30000000));
		freeze(true);
		/* Nobody is waited for. */
		for (unsigned k = 0; k < 50; k++)
			publish(h, &r, (unsigned)rt_below(&r, SLOTS));
		CHECK_EQ(ash_heap_recover(h), 0);
		/* Where it is in no call itself. */
		copy[i] = copy_of(file);
		freeze(false);
		/* Those it was copied from live, and would be taken for the copy's. */
		IN_CHILD {
			ash_heap_destroy(h);
			CHECK(ash_heap_attach_file(copy[i], &why) == NULL && why == ASH_ATTACH_TORN);
		}
	}
	for (unsigned i = 0; i < WORKERS; i++) {
		rt_kill(worker[i], SIGKILL);
		CHECK_EQ(rt_wait(worker[i]), 1000 + SIGKILL);
	}
	(void)ash_heap_recover(h);
	is_whole(h);
	ash_heap_destroy(h);
	/* This process is none of the copies' any more. */
	for (unsigned i = 0; i < COPIES; i++) {
		IN_CHILD {
			CHECK(ash_heap_vouch_file(copy[i]));
			h = NOT_NULL(ash_heap_attach_file(copy[i], &why));
			(void)ash_heap_recover(h);
			is_whole(h);
		}
	}
	rt_print("     %d processes were frozen %d times; each copy of their heap was whole\n", WORKERS, COPIES);
}
