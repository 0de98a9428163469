/* SPDX-License-Identifier: MIT */
/* Namespaces, and lives as they are seen from others. */
#include "store/process/world.h"

#include "kernel.h"
#include "store/process/life.h"
#include "rt.h"
#include "syscall.h"

enum { NEW_TIME = 0x80, NEW_PID = 0x20000000 };

TEST(inner_world_same, 10)
{
	uint64_t here = world_now();

	IN_CHILD
		rt_exit(here == world_now() && world_has_proc() ? 0 : 1);
	CHECK(here >> 32 != 0 && world_is(here, here));
	CHECK(world_is(here, 0) && world_is(0, here));
	CHECK(!world_is(here, here ^ 1) && !world_is(here ^ (uint64_t)1 << 32, here));
	/* Of each half by itself. */
	CHECK(world_is(here >> 32 << 32, here) && world_is(here, here & UINT32_MAX));
}

/* The number in a link such as "pid:[4026531836]". */
static uint64_t number_in(const char *path)
{
	char text[64];
	long n = arch_readlink(path, text, sizeof text), i = 0;
	uint64_t number = 0;

	CHECK(n > 0);
	while (text[i] < '0' || text[i] > '9')
		i++;
	for (; text[i] >= '0' && text[i] <= '9'; i++)
		number = number * 10 + (uint64_t)(text[i] - '0');
	CHECK(text[i] == ']' && number < (uint64_t)1 << 32);
	return number;
}

/* They stand in files, which other versions read. */
TEST(inner_world_numbers, 10)
{
	CHECK_EQ(world_now(), number_in("/proc/self/ns/pid") << 32 | number_in("/proc/self/ns/time"));
}

/* Where no file can be opened there is no /proc to trust. */
TEST(inner_world_without_files, 10)
{
	static const struct { uint64_t soft, hard; } none = {0, 0};

	CHECK(world_has_proc());
	CHECK_EQ(arch_setrlimit(7 /* RLIMIT_NOFILE */, &none), 0);
	if (arch_open("/proc/self/status", 0, 0) >= 0)
		rt_skip("the limit of open files has no effect here");
	CHECK(!world_has_proc());
}

/* A child in a new namespace. */
static long fork_into(long flags)
{
	if (arch_unshare(flags) != 0)
		rt_skip("no new namespaces here (needs root)");
	return rt_fork();
}

TEST(inner_world_other_ids, 10)
{
	uint64_t here = world_now();
	long pid = fork_into(NEW_PID);

	if (pid == 0) {
		CHECK(!world_is(here, world_now()));
		/* This /proc tells of the parent's namespace, where our id is another's. */
		CHECK_EQ(arch_getpid(), 1);
		CHECK(!world_has_proc());
		CHECK_EQ(life_of_thread(), 1);
		CHECK(!life_thread_is_over(life_of_thread()));
		rt_exit(0);
	}
	CHECK_EQ(rt_wait(pid), 0);
	CHECK_EQ(here, world_now());
	CHECK(world_has_proc());
}

TEST(inner_world_other_time, 10)
{
	uint64_t here = world_now();
	long pid = fork_into(NEW_TIME);

	if (pid == 0) {
		CHECK(!world_is(here, world_now()));
		CHECK(world_has_proc());
		rt_exit(0);
	}
	CHECK_EQ(rt_wait(pid), 0);
	CHECK_EQ(here, world_now());
}
