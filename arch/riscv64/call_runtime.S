/* SPDX-License-Identifier: MIT */
/* ash_syscall (ashlar_start.h): any system call, by its number. */
#include "host.h"
#ifdef ARCH_RISCV64
#include "../generic/function.h"

/* The number stands first, so each argument moves by one register. */
FUNCTION(ash_syscall, 4)
	mv	a7, a0
	mv	a0, a1
	mv	a1, a2
	mv	a2, a3
	mv	a3, a4
	mv	a4, a5
	mv	a5, a6
	ecall
	ret
FUNCTION_END(ash_syscall)

	.section .note.GNU-stack, "", @progbits
#endif
