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
 * The amalgamation, which is C, has the functions at the end instead (../generic/calls_here.h).
 */
#include "../generic/stub.h"

#ifdef __ASSEMBLER__
#define STUB(symbol, number, ...)                                                                     \
	.pushsection .text.symbol, "ax", @progbits;                                              \
	STUB_GLOBAL(symbol)                                                                      \
	.type symbol, @function;                                                                 \
symbol:                                                                                            \
	.cfi_startproc;                                                                            \
	FUNCTION_ENTRY;                                                                            \
	__VA_ARGS__                                                                                \
	mov $(number), %eax;                                                                       \
	syscall;                                                                                   \
	ret;                                                                                       \
	.cfi_endproc;                                                                              \
	.size symbol, . - symbol;                                                              \
	.popsection

#define CALL(name, number)     STUB_CALL(arch_##name, number, mov %rcx, %r10;)
#define CALL_FEW(name, number) STUB_CALL(arch_##name, number, )

#else
static inline long system_few(long number, long a, long b, long c)
{
	long result;

	__asm__ volatile("syscall" : "=a"(result) : "a"(number), "D"(a), "S"(b), "d"(c) : "rcx", "r11", "memory");
	return result;
}

static inline long system_many(long number, long a, long b, long c, long d, long e, long f)
{
	register long r10 __asm__("r10") = d, r8 __asm__("r8") = e, r9 __asm__("r9") = f;
	long result;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return result;
}
#endif
