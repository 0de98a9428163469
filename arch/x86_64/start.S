/* SPDX-License-Identifier: MIT */
/*
 * The first instruction of a program: hands the stack pointer to C, which
 * finds argc, argv, envp and the auxiliary vector above it.
 */
#include "host.h"
#ifdef ARCH_HOST
	.section .text._start, "ax", @progbits
	.globl	_start
	.type	_start, @function
_start:
	.cfi_startproc
	.cfi_undefined rip		/* the outermost frame: nobody called */
	xor	%ebp, %ebp		/* the same, for those who follow rbp */
	mov	%rsp, %rdi
	and	$-16, %rsp		/* what a C function may count on     */
	call	rt_start
	ud2				/* rt_start does not return           */
	.cfi_endproc
	.size	_start, . - _start

	.section .note.GNU-stack, "", @progbits
#endif
