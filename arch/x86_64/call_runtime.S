/* SPDX-License-Identifier: MIT */
/* ash_syscall (ashlar_start.h): any system call, by its number. */
#include "host.h"
#ifdef ARCH_X86_64
#include "../generic/function.h"

/* The number stands first, so each argument moves by one register; the last one comes from the stack. */
FUNCTION(ash_syscall, 16)
	mov	%rdi, %rax
	mov	%rsi, %rdi
	mov	%rdx, %rsi
	mov	%rcx, %rdx
	mov	%r8, %r10
	mov	%r9, %r8
	mov	8(%rsp), %r9
	syscall
	ret
FUNCTION_END(ash_syscall)

	.section .note.GNU-stack, "", @progbits
#endif
