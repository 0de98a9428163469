/* SPDX-License-Identifier: MIT */
/* For the amalgamation: the memcpy family and the system calls of the compiler's CPU. */
#include "any.h"

#ifdef ARCH_X86_64
#include "x86_64/memory.c"
#elif defined ARCH_AARCH64
#include "aarch64/memory.c"
#elif defined ARCH_RISCV64
#include "riscv64/memory.c"
#endif

#ifndef ASHLAR_SYSTEM
#ifdef ARCH_X86_64
#include "x86_64/syscall.S"
#elif defined ARCH_AARCH64
#include "aarch64/syscall.S"
#elif defined ARCH_RISCV64
#include "riscv64/syscall.S"
#endif
#endif
