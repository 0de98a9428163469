/* SPDX-License-Identifier: MIT */
/*
 * What a handler of SIGTRAP sees of the call it stopped (aarch64).  Linux gives a program no trap
 * flag of its own here: QEMU stops it (stepper.h).
 */
#ifndef TESTS_SUPPORT_TRAP_FLAG_H
#define TESTS_SUPPORT_TRAP_FLAG_H

#include <stdint.h>

#include "support/stepper_calls.h"

enum { CONTEXT_PC = 440 }; /* place in the ucontext of a signal */

static inline void stepper_call(int64_t what)
{
	register int64_t number __asm__("x8") = STEPPER_CALL;
	register int64_t argument __asm__("x0") = what;

	__asm__ volatile("svc 0" : "+r"(argument) : "r"(number) : "memory");
}

#include "support/stepper.h"

#endif
