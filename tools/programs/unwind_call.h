/* SPDX-License-Identifier: MIT */
/*
 * step_call: a call with known values in the callee-saved registers and the trap flag set,
 * and a function whose unwind table is wrong.
 */
#ifndef UNWIND_CALL_H
#define UNWIND_CALL_H

#include <stdint.h>

typedef uintptr_t function(uintptr_t a, uintptr_t b);

/* step_call(f, a, b) calls f(a, b) with the trap flag set; f returns to step_return. */
uintptr_t step_call(function *f, uintptr_t a, uintptr_t b);
extern const char step_return[];
void planted(void);

/* step_call's rbp. */
__attribute__((used, visibility("hidden"))) uintptr_t step_frame;

enum { RBX = 0x1b1b, R12 = 0x1212, R13 = 0x1313, R14 = 0x1414, R15 = 0x1515 };

__asm__(".text\n"
	".type step_call, @function\n"
	"step_call:\n"
	"	.cfi_startproc\n"
	"	push %rbp\n"
	"	.cfi_def_cfa_offset 16\n"
	"	.cfi_offset rbp, -16\n"
	"	mov %rsp, %rbp\n"
	"	mov %rbp, step_frame(%rip)\n"
	"	.cfi_def_cfa_register rbp\n"
	"	push %rbx\n"
	"	push %r12\n"
	"	push %r13\n"
	"	push %r14\n"
	"	push %r15\n"
	"	.cfi_offset rbx, -24\n"
	"	.cfi_offset r12, -32\n"
	"	.cfi_offset r13, -40\n"
	"	.cfi_offset r14, -48\n"
	"	.cfi_offset r15, -56\n"
	"	mov $0x1b1b, %ebx\n"
	"	mov $0x1212, %r12d\n"
	"	mov $0x1313, %r13d\n"
	"	mov $0x1414, %r14d\n"
	"	mov $0x1515, %r15d\n"
	"	mov %rdi, %rax\n"
	"	mov %rsi, %rdi\n"
	"	mov %rdx, %rsi\n"
	"	pushfq\n"
	"	orl $0x100, (%rsp)\n"
	"	popfq\n"
	"	sub $8, %rsp\n"
	"	call *%rax\n"
	"step_return:\n"
	"	add $8, %rsp\n"
	"	pushfq\n"
	"	andl $~0x100, (%rsp)\n"
	"	popfq\n"
	"	pop %r15\n"
	"	pop %r14\n"
	"	pop %r13\n"
	"	pop %r12\n"
	"	pop %rbx\n"
	"	pop %rbp\n"
	"	.cfi_def_cfa rsp, 8\n"
	"	ret\n"
	"	.cfi_endproc\n"
	".size step_call, . - step_call\n"
	".type planted, @function\n"
	"planted:\n"
	"	.cfi_startproc\n"
	"	nop\n"
	"	push $0\n" /* the planted fault: .cfi_adjust_cfa_offset 8 is missing */
	"	nop\n"
	"	pop %rax\n"
	"	ret\n"
	"	.cfi_endproc\n"
	".size planted, . - planted\n"
	".globl step_call, step_return, planted\n");

#endif
