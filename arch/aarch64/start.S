/* SPDX-License-Identifier: MIT */
/*
 * Entry point of programs without a libc: passes the stack pointer to rt_start, which
 * finds argc, argv, envp and the auxiliary vector above it.
 */
#include "host.h"
#ifdef ARCH_AARCH64
	.section .text._start, "ax", @progbits
	.balign	4
	.globl	_start
	.type	_start, @function
_start:
	.cfi_startproc
	.cfi_undefined x30		/* the outermost frame: no caller     */
	mov	x29, xzr		/* the same for unwinding by x29      */
	mov	x30, xzr
	mov	x0, sp			/* aligned to 16 by the kernel        */
	bl	rt_start
	udf	0			/* rt_start does not return           */
	.cfi_endproc
	.size	_start, . - _start

	.section .note.GNU-stack, "", @progbits
#endif
