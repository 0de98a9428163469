/* SPDX-License-Identifier: MIT */
/* The system calls of sys/start and of tests/runtime; none of these is in libashlar.a. */
#include "host.h"
#ifdef ARCH_RISCV64
#include "../generic/function.h"
#include "stub.h"
#include "../generic/syscall_runtime.S"

/* fork is clone(SIGCHLD, 0, 0, 0, 0). */
FUNCTION(arch_fork, 4)
	li	a0, 17
	li	a1, 0
	li	a2, 0
	li	a3, 0
	li	a4, 0
	li	a7, 220
	ecall
	ret
FUNCTION_END(arch_fork)

	.section .note.GNU-stack, "", @progbits
#endif
