/* SPDX-License-Identifier: MIT */
/* Children of fork and of vfork, for tests of who is who. */
#ifndef TESTS_PROGRAM_CHILD_H
#define TESTS_PROGRAM_CHILD_H

#include "ashlar_heap.h"
#include "kernel.h"
#include "rt.h"
#include "syscall.h"

/* Runs it in a child of fork; its exit status. */
static inline int in_child(void (*body)(void *), void *argument)
{
	return rt_wait(CHILD(body(argument)));
}

struct borrowed {
	void (*body)(void *);
	void *argument;
};

static inline void borrowed_body(void *argument)
{
	struct borrowed *b = argument;

	b->body(b->argument);
	rt_exit(0);
}

static inline void natively_only(void)
{
	if (rt_under_qemu())
		rt_skip("QEMU 7.2 makes vfork a fork");
}

/*
 * In a child of vfork: it shares the memory and the caller's thread-local words,
 * and the caller waits.  On a stack of its own, which C needs.
 */
static inline int in_vfork_child(long flags, void (*body)(void *), void *argument)
{
	const long vfork = 0x4000 | CLONE_VM | 17; /* CLONE_VFORK, SIGCHLD */
	struct borrowed b = {body, argument};
	char *stack = rt_map(256 * KIB);
	long pid;

	CHECK(stack != NULL);
	pid = arch_clone(vfork | flags, stack + 256 * KIB, NULL, NULL, NULL, borrowed_body, &b);
	if (KERNEL_FAILED(pid))
		return (int)pid;
	pid = rt_wait(pid);
	rt_unmap(stack, 256 * KIB);
	return (int)pid;
}

#endif
