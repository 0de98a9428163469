/* SPDX-License-Identifier: MIT */
/*
 * The system calls of the allocator; see generic/syscall.S.  For the assembler, and for the C
 * compiler in the amalgamation: see stub.h.
 */
#include "host.h"
#ifdef ARCH_RISCV64
#include "stub.h"
#include "../generic/syscall.S"

#ifdef __ASSEMBLER__
	.section .note.GNU-stack, "", @progbits
#endif
#endif
