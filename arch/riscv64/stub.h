/* SPDX-License-Identifier: MIT */
/*
 * One system call: CALL(name, number) defines arch_<name>.
 *
 * Registers: the kernel expects the number in a7 and the arguments where C has them,
 * so the first six arguments do not move.
 *
 * Each stub has a section of its own, so that --gc-sections keeps only the calls in use.
 *
 * In an assembly file the functions are global.  In a C file (the amalgamation) each becomes
 * an asm declaration with the same text, and the functions are local to that file.
 */
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

#include "../generic/stub.h"
#define CALL(name, number)	   STUB_CALL(arch_##name, number, )
#define CALL_AT(name, number)	   STUB_CALL(arch_##name, number, STUB_AT)
#define CALL_ZERO(name, number)	   STUB_CALL(arch_##name, number, STUB_ZERO)
#define CALL_AT_ZERO(name, number) STUB_CALL(arch_##name, number, STUB_AT STUB_ZERO)
