/* SPDX-License-Identifier: MIT */
#include "host.h"
#ifdef ARCH_AARCH64
#include "../generic/memory.c"
#endif
