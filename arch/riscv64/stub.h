/* SPDX-License-Identifier: MIT */
/*
 * One system call: CALL(name, number) defines arch_<name>.
 *
 * Registers: the kernel expects the number in a7 and the arguments where C has them,
 * so the first six arguments do not move.
 *
 * Each stub has a section of its own, so that --gc-sections keeps only the calls in use.
 *
 * The amalgamation, which is C, has the functions at the end instead (../generic/calls_here.h).
 */
#include "../generic/stub.h"

#ifdef __ASSEMBLER__
#define STUB(symbol, number, ...)                                                                  \
	.pushsection .text.symbol, "ax", @progbits;                                                \
	.balign 4;                                                                                 \
	STUB_GLOBAL(symbol)                                                                        \
	.type symbol, @function;                                                                   \
symbol:                                                                                            \
	.cfi_startproc;                                                                            \
	__VA_ARGS__                                                                                      \
	li a7, number;                                                                       \
	ecall;                                                                               \
	ret;                                                                                 \
	.cfi_endproc;                                                                              \
	.size symbol, . - symbol;                                                                  \
	.popsection

/* The current folder goes before the arguments; the third argument is 0; both. */
#define STUB_AT	  mv a3, a2; mv a2, a1; mv a1, a0; li a0, -100;
#define STUB_ZERO li a2, 0;

#define CALL(name, number)	   STUB_CALL(arch_##name, number, )
#define CALL_AT(name, number)	   STUB_CALL(arch_##name, number, STUB_AT)
#define CALL_ZERO(name, number)	   STUB_CALL(arch_##name, number, STUB_ZERO)
#define CALL_AT_ZERO(name, number) STUB_CALL(arch_##name, number, STUB_AT STUB_ZERO)

#else
static inline long system_many(long number, long a, long b, long c, long d, long e, long f)
{
	register long a7 __asm__("a7") = number, a0 __asm__("a0") = a, a1 __asm__("a1") = b, a2 __asm__("a2") = c,
		      a3 __asm__("a3") = d, a4 __asm__("a4") = e, a5 __asm__("a5") = f;

	__asm__ volatile("ecall" : "+r"(a0) : "r"(a7), "r"(a1), "r"(a2), "r"(a3), "r"(a4), "r"(a5) : "memory");
	return a0;
}

static inline long system_few(long number, long a, long b, long c)
{
	register long a7 __asm__("a7") = number, a0 __asm__("a0") = a, a1 __asm__("a1") = b, a2 __asm__("a2") = c;

	__asm__ volatile("ecall" : "+r"(a0) : "r"(a7), "r"(a1), "r"(a2) : "memory");
	return a0;
}
#endif
