/* SPDX-License-Identifier: MIT */
/* ash_syscall (ashlar_start.h): any system call, by its number. */
#include "host.h"
#ifdef ARCH_AARCH64
#include "../generic/function.h"

/* The number stands first, so each argument moves by one register. */
FUNCTION(ash_syscall, 4)
	mov	x8, x0
	mov	x0, x1
	mov	x1, x2
	mov	x2, x3
	mov	x3, x4
	mov	x4, x5
	mov	x5, x6
	svc	0
	ret
FUNCTION_END(ash_syscall)

	.section .note.GNU-stack, "", @progbits
#endif
