/* SPDX-License-Identifier: MIT */
/*
 * Entry point of programs without a libc: passes the stack pointer to ash_start_begin, which
 * finds argc, argv, envp and the auxiliary vector above it; and main, which only a program
 * without a _start of its own must have.
 */
#include "host.h"
#ifdef ARCH_AARCH64
#include "../generic/function.h"

FUNCTION(_start, 4)
	.cfi_undefined x30		/* the outermost frame: no caller      */
	mov	x29, xzr		/* no caller for unwinding by x29, too */
	mov	x30, xzr
	mov	x0, sp			/* aligned to 16 by the kernel        */
	adrp	x1, main
	add	x1, x1, :lo12:main
	bl	ash_start_begin
	udf	0			/* it does not return                   */
FUNCTION_END(_start)

	.section .note.GNU-stack, "", @progbits
#endif
