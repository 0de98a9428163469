/* SPDX-License-Identifier: MIT */
/*
 * One system call: CALL(name, number) defines arch_<name>.
 *
 * Registers: the C convention passes rdi rsi rdx rcx r8 r9, the kernel wants
 * rdi rsi rdx r10 r8 r9 and the number in rax; so only the fourth moves.  The
 * instruction itself overwrites rcx and r11, both free for a callee to use;
 * all others are kept.
 *
 * The stack pointer never moves, so the entry of the unwind tables (cfi) is the one that each
 * function begins with.
 *
 * A section each, so that --gc-sections leaves only the calls in use.
 *
 * In an assembly file the functions are global.  In a C file (the amalgamation) each becomes
 * an asm declaration with the same text, and the functions are local to that file.
 */
#define STUB(symbol, number)                                                                     \
	.pushsection .text.symbol, "ax", @progbits;                                              \
	STUB_GLOBAL(symbol)                                                                      \
	.type symbol, @function;                                                                 \
symbol:                                                                                            \
	.cfi_startproc;                                                                            \
	mov %rcx, %r10;                                                                            \
	mov $(number), %eax;                                                                       \
	syscall;                                                                                   \
	ret;                                                                                       \
	.cfi_endproc;                                                                              \
	.size symbol, . - symbol;                                                              \
	.popsection

#ifdef __ASSEMBLER__
#define STUB_GLOBAL(symbol) .globl symbol;
#define CALL(name, number)    STUB(arch_##name, number)
#else
#define STUB_GLOBAL(symbol)
#define STUB_QUOTED(...)   #__VA_ARGS__
#define STUB_STRING(...)   STUB_QUOTED(__VA_ARGS__)
#define CALL(name, number) __asm__(STUB_STRING(STUB(arch_##name, number)));
#endif
