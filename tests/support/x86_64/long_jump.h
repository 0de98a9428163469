/* SPDX-License-Identifier: MIT */
/* A way out of the library, back to the call: for tests that go on after a panic. */
#ifndef TESTS_SUPPORT_LONG_JUMP_H
#define TESTS_SUPPORT_LONG_JUMP_H

#include <stdint.h>

typedef uint64_t jump[8];
__attribute__((returns_twice)) int jump_set(jump j);
_Noreturn void jump_back(jump j);

/*
 * jump_set returns 0, and 1 once more for each jump_back.  Kept: what a callee
 * must keep, the stack as it is after the return, the way back.
 */
__asm__(".text\n"
	".globl jump_set\n"
	"jump_set:\n"
	"	mov	%rbx, (%rdi)\n"
	"	mov	%rbp, 8(%rdi)\n"
	"	mov	%r12, 16(%rdi)\n"
	"	mov	%r13, 24(%rdi)\n"
	"	mov	%r14, 32(%rdi)\n"
	"	mov	%r15, 40(%rdi)\n"
	"	lea	8(%rsp), %rax\n"
	"	mov	%rax, 48(%rdi)\n"
	"	mov	(%rsp), %rax\n"
	"	mov	%rax, 56(%rdi)\n"
	"	xor	%eax, %eax\n"
	"	ret\n"
	".globl jump_back\n"
	"jump_back:\n"
	"	mov	(%rdi), %rbx\n"
	"	mov	8(%rdi), %rbp\n"
	"	mov	16(%rdi), %r12\n"
	"	mov	24(%rdi), %r13\n"
	"	mov	32(%rdi), %r14\n"
	"	mov	40(%rdi), %r15\n"
	"	mov	48(%rdi), %rsp\n"
	"	mov	$1, %eax\n"
	"	jmp	*56(%rdi)\n");

#endif
