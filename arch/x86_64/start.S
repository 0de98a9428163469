/* SPDX-License-Identifier: MIT */
/*
 * Entry point of programs without a libc: passes the stack pointer to rt_start, which
 * finds argc, argv, envp and the auxiliary vector above it.
 */
#include "host.h"
#ifdef ARCH_X86_64
	.section .text._start, "ax", @progbits
	.globl	_start
	.type	_start, @function
_start:
	.cfi_startproc
	.cfi_undefined rip		/* the outermost frame: no caller     */
	xor	%ebp, %ebp		/* the same for unwinding by rbp      */
	mov	%rsp, %rdi
	and	$-16, %rsp		/* the ABI's alignment at a call      */
	call	rt_start
	ud2				/* rt_start does not return           */
	.cfi_endproc
	.size	_start, . - _start

	.section .note.GNU-stack, "", @progbits
#endif
