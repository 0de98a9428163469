/* SPDX-License-Identifier: MIT */
/*
 * The first instruction of a program: hands the stack pointer to C, which
 * finds argc, argv, envp and the auxiliary vector above it.
 */
	.section .text._start, "ax", @progbits
	.globl	_start
	.type	_start, @function
_start:
	xor	%ebp, %ebp		/* the outermost frame, for debuggers */
	mov	%rsp, %rdi
	and	$-16, %rsp		/* what a C function may count on     */
	call	rt_start
	ud2				/* rt_start does not return           */
	.size	_start, . - _start

	.section .note.GNU-stack, "", @progbits
