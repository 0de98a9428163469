/* SPDX-License-Identifier: MIT */
/*
 * step_over.h of a CPU whose tests run under QEMU only: nothing is stepped over, as a stop of
 * QEMU's costs less than one by the trap flag of x86_64.
 */
#ifndef TESTS_SUPPORT_STEP_OVER_NONE_H
#define TESTS_SUPPORT_STEP_OVER_NONE_H

#include "trap_flag.h"

static inline uintptr_t step_over_pc(void *context)
{
	return trap_pc(context);
}

static inline void step_over(UNUSED void *context, UNUSED bool wanted,
			     UNUSED uintptr_t watched,
			     UNUSED uintptr_t watched_too)
{
}

static inline void step_over_end(void)
{
}

#endif
