/* SPDX-License-Identifier: MIT */
/* Processes in other namespaces, where the ids in a shared heap name no process, or another one. */
#include "store/inner/leaving.h"

enum { NEW_PID = 0x20000000, NEW_TIME = 0x80 };

TEST(inner_away_vfork_new_pids, 20)
{
	static const struct { uint64_t soft, hard; } none = {0, 0};

	heap_make();
	work(1);
	/* One whose record could be taken over. */
	helper.heap = heap;
	helper_does(use);
	if (arch_unshare(NEW_PID) != 0)
		rt_skip("no new namespaces here (needs root)");
	/* RLIMIT_NOFILE: nothing can be opened, so only ids are known. */
	CHECK_EQ(arch_setrlimit(7, &none), 0);
	vfork_works();
	work(2);
	helper_does(use);
	CHECK_EQ(ash_heap_recover(heap), 0);
	CHECK_EQ(ash_heap_check(heap), 0);
}

static _Atomic unsigned *turns;

static void turn(unsigned n)
{
	while (*turns != n)
		rt_yield();
}

/* A child whose id names no process in the namespace of this /proc. */
static void leave_the_namespace(void)
{
	char path[32];
	long pid, fd = 0;
	unsigned i;

	for (i = 0; i < 2000 && fd >= 0; i++) {
		pid = rt_fork();
		if (pid != 0)
			rt_exit(rt_wait(pid));
		/* Emulators replace what stands in the process's own file, but not here. */
		(void)rt_format(path, sizeof path, "/proc/%ld/task/%ld/stat", arch_getpid(),
				arch_getpid());
		fd = arch_open(path, 0, 0);
		(void)arch_close(fd);
	}
	CHECK(fd < 0);
}

static void child_in_new_pids(void)
{
	void *p[100];
	size_t i;

	leave_the_namespace();

	for (i = 0; i < 100; i++) {
		p[i] = ash_heap_alloc(heap, 64);
		*(size_t *)p[i] = i;
	}
	work(4);
	*turns = 1;
	turn(2);
	/* It calls no process dead, and has left nothing that could be taken over. */
	CHECK_EQ(ash_heap_recover(heap), 0);
	CHECK_EQ(lives_thread(heap_of(heap)), 0);
	for (i = 0; i < 100; i++) {
		CHECK_EQ(*(size_t *)p[i], i);
		ash_heap_release(heap, p[i]);
	}
	work(6);
	CHECK_EQ(ash_heap_check(heap), 0);
	rt_exit(0);
}

TEST(inner_away_fork_new_pids, 20)
{
	void *p[100];
	size_t i;
	long pid;

	heap_make();
	turns = ash_heap_zalloc(heap, 1, sizeof *turns);
	if (arch_unshare(NEW_PID) != 0)
		rt_skip("no new namespaces here (needs root)");
	pid = rt_fork();
	if (pid == 0)
		child_in_new_pids();
	turn(1);
	CHECK_EQ(ash_heap_recover(heap), 0);
	for (i = 0; i < 100; i++) {
		p[i] = ash_heap_alloc(heap, 64);
		*(size_t *)p[i] = 1000 + i;
	}
	*turns = 2;
	CHECK_EQ(rt_wait(pid), 0);
	for (i = 0; i < 100; i++)
		CHECK_EQ(*(size_t *)p[i], 1000 + i);
	work(5);
	CHECK_EQ(ash_heap_check(heap), 0);
}

static void is_refused_and_adopted(int fd, unsigned seed)
{
	enum ash_attach why;

	CHECK(ash_heap_attach_file(fd, &why) == NULL);
	CHECK_EQ(why, ASH_ATTACH_NAMESPACE);
	CHECK(ash_heap_adopt_file(fd));
	heap = attach(fd);
	work(seed);
	CHECK_EQ(ash_heap_check(heap), 0);
}

static void refused_then_adopted(int fd, long flags)
{
	if (arch_unshare(flags) != 0)
		rt_skip("no new namespaces here (needs root)");
	IN_CHILD
		is_refused_and_adopted(fd, 1);
	/* Now it is us who are elsewhere. */
	is_refused_and_adopted(fd, 2);
}

TEST_CALL(inner_away_attach_new_pids, 20, refused_then_adopted(make_file(8 * MIB), NEW_PID));
TEST_CALL(inner_away_attach_new_time, 20, refused_then_adopted(make_file(8 * MIB), NEW_TIME));

TEST(inner_away_adopt_no_heap, 20)
{
	long fd = arch_memfd_create("nothing", 0);

	CHECK(!ash_heap_adopt_file((int)fd) && !ash_heap_adopt_file(-1));
	CHECK_EQ(arch_ftruncate(fd, 1 << 20), 0);
	CHECK(!ash_heap_adopt_file((int)fd));
}
