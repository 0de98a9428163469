/* SPDX-License-Identifier: MIT */
/* The memory cgroup that a test runs in (init.c: group), and a process that the kernel ends first. */
#ifndef TESTS_KERNEL_GROUP_H
#define TESTS_KERNEL_GROUP_H

#include "rt.h"
#include "syscall.h"

enum { KILLED = 1000 + 9 }; /* by SIGKILL, as rt_wait has it */

/* The number behind `name` in a file of the group; name "": the file's first.  SIZE_MAX: none. */
static inline size_t group_number(const char *file, const char *name)
{
	char path[128];

	rt_format(path, sizeof(path), "/sys/fs/cgroup/tests/%s", file);
	return rt_number_of(path, name);
}

/* A limit of the group that this process is in. */
static inline size_t group_limit(const char *file)
{
	char text[256];
	size_t n;

	if (rt_read_file("/proc/self/cgroup", text, sizeof(text)) <= 0 || rt_strstr(text, "/tests") == NULL)
		rt_skip("this process is in no memory cgroup");
	n = group_number(file, "");
	if (n == SIZE_MAX)
		rt_skip("the cgroup has no such limit");
	return n;
}

/* Of the group's processes the kernel ends this one first. */
static inline void group_victim(void)
{
	CHECK(rt_write_file("/proc/self/oom_score_adj", "1000"));
}

#endif
