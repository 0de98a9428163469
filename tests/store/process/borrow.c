/* SPDX-License-Identifier: MIT */
/* Whether a process runs in its own memory, or in that of the parent that vforked it. */
#include "store/process/borrow.h"

#include "kernel.h"
#include "rt.h"
#include "syscall.h"

enum { VFORK = 0x4000 | CLONE_VM | 17 /* SIGCHLD */, STACK = 64 * 1024 };
enum { NOBODY_KNOWS = 2 };

/* The answers that a child got; in memory that also children of fork share. */
static _Atomic int *told;

DOES(told_make, CHECK((told = rt_map_shared(sizeof *told)) != NULL));

static _Noreturn void ask_and_end(UNUSED void *argument)
{
	*told = memory_is_borrowed();
	for (;;)
		arch_exit_group(0);
}

/* The answer to a child of vfork. */
static int vforked(void)
{
	static char stack[STACK];
	long pid;

	*told = NOBODY_KNOWS;
	pid = arch_clone(VFORK, stack + STACK, NULL, NULL, NULL, ask_and_end, NULL);
	CHECK(pid > 0);
	CHECK_EQ(rt_wait(pid), 0);
	return *told;
}

/* An emulator makes vfork a fork: that memory is the child's own. */
static void check_vforked(void)
{
	CHECK_EQ(vforked(), rt_under_qemu() ? 0 : 1);
	CHECK(!memory_is_borrowed());
}

static void in_child(void (*act)(void))
{
	IN_CHILD
		act();
}

DOES(check_own, CHECK(!memory_is_borrowed()));

/* In a process, in a child that has asked before, and in one that has not. */
static void check_all(void)
{
	check_own();
	check_vforked();
	in_child(check_own);
	in_child(check_vforked);
	check_own();
}

TEST(inner_borrow_plain, 10)
{
	told_make();
	check_all();
}

TEST(inner_borrow_never_asked, 10)
{
	told_make();
	check_vforked();
}

static void sleeper(UNUSED void *argument)
{
	for (;;)
		rt_sleep(1000000000);
}

static void in_thread(UNUSED void *argument)
{
	check_all();
}

TEST(inner_borrow_threads, 10)
{
	told_make();
	CHECK(rt_thread_start(sleeper, NULL) != NULL);
	check_all();
	rt_in_thread(in_thread, NULL);
}

/* unshare answers with this error from now on. */
static void refuse_unshare(unsigned error)
{
	struct { uint16_t code; uint8_t yes, no; uint32_t k; } filter[] = {
		{0x20, 0, 0, 0},		/* the call's number */
		{0x15, 0, 1, 272},		/* unshare?          */
		{0x06, 0, 0, 0x00050000 | error}, /* the error         */
		{0x06, 0, 0, 0x7fff0000},	/* allowed           */
	};
	struct { uint16_t length; void *filter; } program = {4, filter};

	CHECK_EQ(arch_prctl(38, 1, 0, 0, 0), 0); /* no new privileges */
	if (arch_prctl(22, 2, (long)&program, 0, 0) != 0)
		rt_skip("no filters here (an emulator)");
	CHECK_EQ(arch_unshare(0), -(long)error);
}

TEST(inner_borrow_refused, 20)
{
	told_make();
	refuse_unshare(1); /* EPERM, as containers do */
	check_all();
}

TEST(inner_borrow_refused_never_asked, 20)
{
	told_make();
	refuse_unshare(38); /* ENOSYS */
	in_child(check_vforked);
	check_vforked();
}
