/* SPDX-License-Identifier: MIT */
#include "host.h"
#ifdef ARCH_RISCV64
#include "../generic/memory.c"
#endif
