/* SPDX-License-Identifier: MIT */
/*
 * Entry point of programs without a libc: passes the stack pointer to ash_start_begin, which
 * finds argc, argv, envp and the auxiliary vector above it; and main, which only a program
 * without a _start of its own must have.
 */
#include "host.h"
#ifdef ARCH_RISCV64
#include "../generic/function.h"

FUNCTION(_start, 4)
	.cfi_undefined ra		/* the outermost frame: no caller     */
	li	s0, 0			/* no caller for unwinding by s0, too */
	li	ra, 0
	.weak	__global_pointer$	/* for code that the linker has relaxed */
	.option	push
	.option	norelax
1:	auipc	gp, %pcrel_hi(__global_pointer$)
	addi	gp, gp, %pcrel_lo(1b)
	.option	pop
	mv	a0, sp			/* aligned to 16 by the kernel        */
	lla	a1, main
	call	ash_start_begin
	unimp				/* it does not return                   */
FUNCTION_END(_start)

	.section .note.GNU-stack, "", @progbits
#endif
