/* SPDX-License-Identifier: MIT */
/*
 * One system call: CALL(name, number) defines arch_<name>.
 *
 * Registers: the kernel expects the number in x8 and the arguments where C has them,
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
	mov x8, number;                                                                      \
	svc 0;                                                                               \
	ret;                                                                                 \
	.cfi_endproc;                                                                              \
	.size symbol, . - symbol;                                                                  \
	.popsection

/* The current folder goes before the arguments; the third argument is 0; both. */
#define STUB_AT	  mov x3, x2; mov x2, x1; mov x1, x0; mov x0, -100;
#define STUB_ZERO mov x2, 0;

#define CALL(name, number)	   STUB_CALL(arch_##name, number, )
#define CALL_AT(name, number)	   STUB_CALL(arch_##name, number, STUB_AT)
#define CALL_ZERO(name, number)	   STUB_CALL(arch_##name, number, STUB_ZERO)
#define CALL_AT_ZERO(name, number) STUB_CALL(arch_##name, number, STUB_AT STUB_ZERO)

#else
static inline long system_many(long number, long a, long b, long c, long d, long e, long f)
{
	register long x8 __asm__("x8") = number, x0 __asm__("x0") = a, x1 __asm__("x1") = b, x2 __asm__("x2") = c,
		      x3 __asm__("x3") = d, x4 __asm__("x4") = e, x5 __asm__("x5") = f;

	__asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5) : "memory");
	return x0;
}

static inline long system_few(long number, long a, long b, long c)
{
	register long x8 __asm__("x8") = number, x0 __asm__("x0") = a, x1 __asm__("x1") = b, x2 __asm__("x2") = c;

	__asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2) : "memory");
	return x0;
}
#endif
