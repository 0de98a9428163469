/* SPDX-License-Identifier: MIT */
/* A thread is dead although another thread has its id. */
#include "store/process/life_child.h"

/*
 * Goes on in a child whose ids are its own: where the next id can be chosen for all, ids of processes that
 * have just ended are given to those of other tests, which run beside this one.
 */
static void with_ids_apart(void)
{
	enum { NEW_PIDS = 0x20000000, NEW_MOUNTS = 0x20000, PRIVATE_MOUNTS = 0x44000 /* and all below */ };
	long pid;

	if (arch_unshare(NEW_PIDS | NEW_MOUNTS) != 0)
		rt_skip("ids cannot be chosen here (needs root)");
	pid = rt_fork();
	CHECK(pid >= 0);
	if (pid != 0)
		rt_exit(rt_wait(pid));
	if (arch_mount("none", "/", NULL, PRIVATE_MOUNTS, NULL) != 0 || arch_mount("proc", "/proc", "proc", 0, NULL) != 0)
		rt_skip("there is no /proc of new namespaces here");
}

/* True: the next process gets the id. */
static bool choose_next(uint64_t id)
{
	char text[24];
	size_t n = rt_format(text, sizeof text, "%lu", id - 1);
	long fd = arch_open("/proc/sys/kernel/ns_last_pid", 1, 0), r;

	if (fd < 0)
		return false;
	r = arch_write(fd, text, n);
	(void)arch_close(fd);
	return r == (long)n;
}

TEST(life_reused_id, 30)
{
	uint64_t before, id;
	unsigned i;
	long pid;

	with_ids_apart();
	told_make();
	pid = child();
	before = told->thread;
	id = LIFE_ID(before);
	kill_and_wait(pid);
	CHECK(life_thread_is_over(before));
	rt_sleep(30000000); /* births are told in hundredths of a second */
	for (i = 0; i < 1000; i++) {
		if (!choose_next(id))
			rt_skip("ids cannot be chosen here (needs root)");
		pid = child();
		if ((uint64_t)pid == id)
			break;
		kill_and_wait(pid); /* another process was faster */
	}
	if (i == 1000)
		rt_skip("the id was never to be had");
	CHECK(life_thread_is_over(before));
	CHECK(life_process_is_over(before));
	CHECK(!life_thread_is_over(told->thread));
	CHECK_EQ(LIFE_ID(told->thread), id);
	kill_and_wait(pid);
}
