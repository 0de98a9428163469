/* SPDX-License-Identifier: MIT */
/*
 * Entry point of programs without a libc: passes the stack pointer to rt_start, which
 * finds argc, argv, envp and the auxiliary vector above it.
 */
#include "host.h"
#ifdef ARCH_RISCV64
	.section .text._start, "ax", @progbits
	.balign	4
	.globl	_start
	.type	_start, @function
_start:
	.cfi_startproc
	.cfi_undefined ra		/* the outermost frame: no caller     */
	li	s0, 0			/* the same for unwinding by s0       */
	li	ra, 0
	mv	a0, sp			/* aligned to 16 by the kernel        */
	call	rt_start
	unimp				/* rt_start does not return           */
	.cfi_endproc
	.size	_start, . - _start

	.section .note.GNU-stack, "", @progbits
#endif
