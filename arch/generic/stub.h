/* SPDX-License-Identifier: MIT */
/* STUB of a CPU's stub.h, in assembly and as assembly within C (the amalgamation). */
#ifndef ARCH_STUB_CALL
#define ARCH_STUB_CALL

#ifdef __ASSEMBLER__
#define STUB_GLOBAL(symbol) .globl symbol;
#define STUB_CALL(symbol, number, ...) STUB(symbol, number, __VA_ARGS__)
#else
#define STUB_GLOBAL(symbol)
#define STUB_QUOTED(...) #__VA_ARGS__
#define STUB_STRING(...) STUB_QUOTED(__VA_ARGS__)
#define STUB_CALL(symbol, number, ...) __asm__(STUB_STRING(STUB(symbol, number, __VA_ARGS__)));
#endif

#endif
