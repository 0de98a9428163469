/* SPDX-License-Identifier: MIT */
/*
 * One system call: CALL(name, number) defines arch_<name>.
 *
 * Registers: the kernel expects the number in x8 and the arguments where C has them,
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
	mov x8, number;                                                                      \
	svc 0;                                                                               \
	ret;                                                                                 \
	.cfi_endproc;                                                                              \
	.size symbol, . - symbol;                                                                  \
	.popsection

/* The current folder goes before the arguments; the third argument is 0; both. */
#define STUB_AT	  mov x3, x2; mov x2, x1; mov x1, x0; mov x0, -100;
#define STUB_ZERO mov x2, 0;

#include "../generic/stub.h"
#define CALL(name, number)	   STUB_CALL(arch_##name, number, )
#define CALL_AT(name, number)	   STUB_CALL(arch_##name, number, STUB_AT)
#define CALL_ZERO(name, number)	   STUB_CALL(arch_##name, number, STUB_ZERO)
#define CALL_AT_ZERO(name, number) STUB_CALL(arch_##name, number, STUB_AT STUB_ZERO)
