/* SPDX-License-Identifier: MIT */
/*
 * Single steps by a plugin of QEMU (steps_plugin.c), on CPUs without a trap flag.  Included by
 * their trap_flag.h, which defines CONTEXT_PC and stepper_call.
 */
#ifndef TESTS_SUPPORT_STEPPER_H
#define TESTS_SUPPORT_STEPPER_H

#include "rt.h"
#include "support/stepper_calls.h"

enum { SIGTRAP_NUMBER = 5 };

static volatile bool stepper_is_there;

static inline void stepper_answer(UNUSED int number,
				  UNUSED void *info,
				  UNUSED void *context)
{
	stepper_is_there = true;
}

/* Ends a test that needs single steps, where nothing makes them. */
static inline void trap_need(void)
{
	unsigned i;

	rt_signal(SIGTRAP_NUMBER, stepper_answer);
	stepper_call(STEPPER_BEGIN);
	for (i = 0; i < 100 && !stepper_is_there; i++)
		__asm__ volatile("" ::: "memory");
	if (!stepper_is_there)
		rt_skip("no single steps: QEMU runs without tests/support/steps_plugin.c");
}

/* The instruction that comes next. */
static inline uintptr_t trap_pc(void *context)
{
	return *(uintptr_t *)(void *)((char *)context + CONTEXT_PC);
}

/* In the handler: whether it is called again after the next instruction. */
static inline void trap_go_on(UNUSED void *context, bool stepping)
{
	if (stepping)
		stepper_call(STEPPER_GO_ON);
}

/* These CPUs have no instruction that goes on by itself. */
static inline void trap_string(UNUSED void *context)
{

}

static inline void trap_begin(void)
{
	stepper_call(STEPPER_BEGIN);
}

#endif
