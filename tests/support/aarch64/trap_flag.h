/* SPDX-License-Identifier: MIT */
/*
 * What a handler of SIGTRAP sees of the call it stopped (aarch64).  Linux gives a program no trap
 * flag of its own here, so stepping needs somebody outside.
 */
#ifndef TESTS_SUPPORT_TRAP_FLAG_H
#define TESTS_SUPPORT_TRAP_FLAG_H

#include "rt.h"

enum {
	SIGTRAP_NUMBER = 5,
	CONTEXT_PC = 440 /* place in the ucontext of a signal */
};

/* Ends a test that needs single steps. */
static inline void trap_need(void)
{
	rt_skip("no single steps on this CPU");
}

static inline uintptr_t trap_pc(void *context)
{
	return *(uintptr_t *)(void *)((char *)context + CONTEXT_PC);
}

static inline void trap_go_on(void *context, bool stepping)
{
	(void)context, (void)stepping;
}

static inline void trap_string(void *context)
{
	(void)context;
}

static inline void trap_begin(void)
{
}

#endif
