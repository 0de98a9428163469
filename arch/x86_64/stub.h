/* SPDX-License-Identifier: MIT */
/*
 * One system call: CALL name, number defines arch_<name>.
 *
 * Registers: the C convention passes rdi rsi rdx rcx r8 r9, the kernel wants
 * rdi rsi rdx r10 r8 r9 and the number in rax; so only the fourth moves.  The
 * instruction itself overwrites rcx and r11, both free for a callee to use;
 * all others are kept.
 *
 * The stack pointer never moves, so the entry of the unwind tables (cfi) is the one that each
 * function begins with.
 *
 * A section each, so that --gc-sections leaves only the calls in use.
 */
.macro CALL name, number
	.section .text.arch_\name, "ax", @progbits
	.globl	arch_\name
	.type	arch_\name, @function
arch_\name:
	.cfi_startproc
	mov	%rcx, %r10
	mov	$\number, %eax
	syscall
	ret
	.cfi_endproc
	.size	arch_\name, . - arch_\name
.endm
