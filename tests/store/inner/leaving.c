/* SPDX-License-Identifier: MIT */
/*
 * Processes that go away from a shared heap otherwise than by dying: the heap is taken out
 * of the process, or the process becomes another program.
 */
#include "store/inner/leaving.h"
#include "program/copy_of.h"
#include "support/blocks.h"

/* A backup of a heap has the heap's id and its address, but no thread has a seat in it. */
TEST(inner_away_second_copy, 20)
{
	int fd = make_file(4 * MIB), copy = copy_of(fd);

	helper.heap = attach(fd);
	helper_does(use);
	ash_heap_destroy(helper.heap);
	CHECK(attach(copy) == helper.heap);
	use();
	helper_does(use); /* by a seat of the other file? */
	CHECK(helper.seat != NULL && helper.seat != seats_self(heap_of(helper.heap)));
	CHECK_EQ(ash_heap_check(helper.heap), 0);
}

static size_t fill(ash_heap *h, void **out)
{
	size_t n = 0;
	void *p;

	while ((p = ash_heap_alloc(h, 1000)) != NULL)
		out[n++] = p;
	return n;
}

static void *blocks[8192];
static size_t taken, kept;

static void fill_and_release_most(void)
{
	size_t i;

	taken = fill(helper.heap, blocks);
	for (i = 0; i < taken; i++)
		if (i % 31 == 0)
			kept++;
		else
			ash_heap_release(helper.heap, blocks[i]);
}

/* The heap leaves the process: another one can have what its threads had free. */
TEST(inner_away_destroy_lets_go, 20)
{
	int fd = make_file(4 * MIB);

	helper.heap = attach(fd);
	helper_does(fill_and_release_most);
	ash_heap_destroy(helper.heap);
	IN_CHILD {
		ash_heap *h = attach(fd);
		size_t more = fill(h, blocks);

		CHECK(more + kept + 64 > taken);
		CHECK_EQ(ash_heap_check(h), 0);
	}
}

/* Not only blocks: the helper was in the middle of a call, and jumped out of it. */
static void stop_while_building(void)
{
	struct owner *o;

	use();
	o = seats_self(heap_of(helper.heap));
	o->building++;
	truth_of(o)->flight = (uint64_t)(uintptr_t)ash_heap_alloc(helper.heap, 100);
}

TEST(inner_away_destroy_after_jump, 20)
{
	int fd = make_file(4 * MIB);

	helper.heap = attach(fd);
	helper_does(stop_while_building);
	ash_heap_destroy(helper.heap);
	helper.heap = attach(fd);
	CHECK_EQ(ash_heap_check(helper.heap), 0);
	CHECK_EQ(stats_of(helper.heap).blocks, 0);
	CHECK((heap_of(helper.heap)->owners->building & 1) == 0);
}

/* ---- exec ---- */

TEST(inner_away_exec, 20)
{
	ash_heap *h = NOT_NULL(ash_heap_create_shared(4 * MIB, NULL));
	char *const words[] = {"sleep", "1000", NULL};
	int ends[2];
	char byte;
	long pid;

	CHECK_EQ(arch_pipe2(ends, O_CLOEXEC), 0);
	pid = rt_fork();
	if (pid == 0) {
		CHECK(ash_heap_alloc(h, 1000) != NULL);
		CHECK_EQ(arch_execve("/bin/sleep", words, rt_envp()), 0);
	}
	(void)arch_close(ends[1]);
	CHECK_EQ(arch_read(ends[0], &byte, 1), 0); /* closed: it is another program */
	CHECK_EQ(arch_kill(pid, 0), 0);
	CHECK_EQ(ash_heap_recover(h), 1);
	CHECK_EQ(ash_heap_release_owner(h, 1), 1);
	rt_kill(pid, SIGKILL);
	(void)rt_wait(pid);
}
