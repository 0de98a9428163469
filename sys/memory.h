/* SPDX-License-Identifier: MIT */
/* Declarations of the memcpy family (arch/<cpu>/memory.c, or the program's own). */
#ifndef SYS_MEMORY_H
#define SYS_MEMORY_H

#include <stddef.h>

#include "internal.h"

INTERNAL int memcmp(const void *a, const void *b, size_t n);
INTERNAL void *memcpy(void *restrict to, const void *restrict from, size_t n);
INTERNAL void *memset(void *to, int byte, size_t n);

#endif
