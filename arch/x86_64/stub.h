/* SPDX-License-Identifier: MIT */
/*
 * One system call: CALL(name, number) defines arch_<name>; CALL_FEW one of at most three
 * arguments, which saves an instruction.
 *
 * Registers: the C convention passes arguments in rdi rsi rdx rcx r8 r9, the kernel
 * expects them in rdi rsi rdx r10 r8 r9 and the number in rax, so only the fourth
 * moves.  The syscall instruction overwrites rcx and r11, which are both
 * caller-saved; the kernel preserves all others but rax.
 *
 * The stack pointer does not change, so the initial unwind (cfi) rule is valid throughout.
 *
 * Each stub has a section of its own, so that --gc-sections keeps only the calls in use.
 *
 * In an assembly file the functions are global.  In a C file (the amalgamation) each becomes
 * an asm declaration with the same text, and the functions are local to that file.
 */
#define STUB(symbol, number, ...)                                                                     \
	.pushsection .text.symbol, "ax", @progbits;                                              \
	STUB_GLOBAL(symbol)                                                                      \
	.type symbol, @function;                                                                 \
symbol:                                                                                            \
	.cfi_startproc;                                                                            \
	__VA_ARGS__                                                                                \
	mov $(number), %eax;                                                                       \
	syscall;                                                                                   \
	ret;                                                                                       \
	.cfi_endproc;                                                                              \
	.size symbol, . - symbol;                                                              \
	.popsection

#include "../generic/stub.h"
#define CALL(name, number)     STUB_CALL(arch_##name, number, mov %rcx, %r10;)
#define CALL_FEW(name, number) STUB_CALL(arch_##name, number, )
