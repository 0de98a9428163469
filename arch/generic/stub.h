/* SPDX-License-Identifier: MIT */
/* STUB of a CPU's stub.h, in assembly.  In the amalgamation, which is C, STUB is only the number (calls_here.h). */
#ifndef ARCH_STUB_CALL
#define ARCH_STUB_CALL

#ifdef __ASSEMBLER__
#define STUB_CALL(symbol, number, ...) STUB(symbol, number, __VA_ARGS__)
#define STUB_GLOBAL(symbol) .globl symbol;
#else
#define CALL(name, number)    enum { NUMBER_##name = number, AT_##name = 0 };
#define CALL_AT(name, number) enum { NUMBER_##name = number, AT_##name = 1 };
#define CALL_FEW	      CALL
#endif

#endif
