/* SPDX-License-Identifier: MIT */
/*
 * One system call: CALL name, number defines arch_<name>.
 *
 * Registers: the C convention passes arguments in rdi rsi rdx rcx r8 r9, the kernel
 * expects them in rdi rsi rdx r10 r8 r9 and the number in rax, so only the fourth
 * moves.  The syscall instruction overwrites rcx and r11, which are both
 * caller-saved; the kernel preserves all others but rax.
 *
 * The stack pointer does not change, so the initial unwind (cfi) rule is valid throughout.
 *
 * Each stub has a section of its own, so that --gc-sections keeps only the calls in use.
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
