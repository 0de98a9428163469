/* SPDX-License-Identifier: MIT */
/*
 * Entry point of programs without a libc: passes the stack pointer to ash_start_begin, which
 * finds argc, argv, envp and the auxiliary vector above it; and main, which only a program
 * without a _start of its own must have.
 */
#include "host.h"
#ifdef ARCH_X86_64
#include "../generic/function.h"

FUNCTION(_start, 1)
	.cfi_undefined rip		/* the outermost frame: no caller      */
	xor	%ebp, %ebp		/* no caller for unwinding by rbp, too */
	mov	%rsp, %rdi
	lea	main(%rip), %rsi
	and	$-16, %rsp		/* the ABI's alignment at a call      */
	call	ash_start_begin
	ud2				/* it does not return                   */
FUNCTION_END(_start)

	.section .note.GNU-stack, "", @progbits
#endif
