/* SPDX-License-Identifier: MIT */
/* The system calls of tests/runtime; none of these is in libashlar.a. */
#include "host.h"
#ifdef ARCH_RISCV64
#include "stub.h"
#include "../generic/syscall_runtime.S"

/* fork is clone(SIGCHLD, 0, 0, 0, 0). */
	.section .text.arch_fork, "ax", @progbits
	.balign	4
	.globl	arch_fork
	.type	arch_fork, @function
arch_fork:
	.cfi_startproc
	li	a0, 17
	li	a1, 0
	li	a2, 0
	li	a3, 0
	li	a4, 0
	li	a7, 220
	ecall
	ret
	.cfi_endproc
	.size	arch_fork, . - arch_fork

	.section .note.GNU-stack, "", @progbits
#endif
