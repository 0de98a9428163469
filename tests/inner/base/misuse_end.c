/* SPDX-License-Identifier: MIT */
/* The end after misuse is SIGABRT, whatever the program has done with that signal. */
/* promises: ash_release, ash_on_misuse */
#include "ashlar.h"
#include "rt.h"
#include "syscall.h"

enum { SIGABRT = 6, SIG_BLOCK = 0 };

static void handler(UNUSED int number, UNUSED void *info, UNUSED void *context)
{
	rt_fprint(2, "handled\n");
}

static void block_and_release(void *p)
{
	uint64_t all = ~(uint64_t)0;

	arch_rt_sigprocmask(SIG_BLOCK, &all, NULL, sizeof all);
	ash_release(p);
}

static void handle_and_release(void *p)
{
	rt_signal(SIGABRT, handler);
	block_and_release(p);
}

static void ignore_and_release(void *p)
{
	static const uint64_t ignore[4] = {1};

	arch_rt_sigaction(SIGABRT, ignore, NULL, 8);
	ash_release(p);
}

TEST(misuse_ends_by_abort, 10)
{
	char text[300];
	int here;

	CHECK_EQ(rt_run_child(block_and_release, &here, text, sizeof text), 1000 + SIGABRT);
	CHECK_EQ(rt_run_child(ignore_and_release, &here, text, sizeof text), 1000 + SIGABRT);
	CHECK_EQ(rt_run_child(handle_and_release, &here, text, sizeof text), 1000 + SIGABRT);
	CHECK(rt_strstr(text, "allocator\nhandled\n") != NULL);
}
