/* SPDX-License-Identifier: MIT */
/* The system calls of sys/start and of tests/runtime; none of these is in libashlar.a. */
#include "host.h"
#ifdef ARCH_AARCH64
#include "../generic/function.h"
#include "stub.h"
#include "../generic/syscall_runtime.S"

/* fork is clone(SIGCHLD, 0, 0, 0, 0). */
FUNCTION(arch_fork, 4)
	mov	x0, 17
	mov	x1, xzr
	mov	x2, xzr
	mov	x3, xzr
	mov	x4, xzr
	mov	x8, 220
	svc	0
	ret
FUNCTION_END(arch_fork)

/* Signal handlers return to the kernel's own page; this is for a kernel without it. */
	.section .text.arch_sigreturn, "ax", @progbits
	.balign	16
	nop
	.globl	arch_sigreturn
	.type	arch_sigreturn, @function
arch_sigreturn:
	mov	x8, 139
	svc	0
	.size	arch_sigreturn, . - arch_sigreturn

	.section .note.GNU-stack, "", @progbits
#endif
