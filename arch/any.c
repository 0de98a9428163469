/* SPDX-License-Identifier: MIT */
/* For the amalgamation: the memcpy family of the compiler's CPU. */
#include "any.h"

#ifdef ARCH_X86_64
#include "x86_64/memory.c"
#elif defined ARCH_AARCH64
#include "aarch64/memory.c"
#elif defined ARCH_RISCV64
#include "riscv64/memory.c"
#endif
