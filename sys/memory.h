/* SPDX-License-Identifier: MIT */
/* Declarations of the memcpy family, defined in arch/<cpu>/memory.c or by the program. */
#ifndef SYS_MEMORY_H
#define SYS_MEMORY_H

#include <stddef.h>

int memcmp(const void *a, const void *b, size_t n);
void *memcpy(void *restrict to, const void *restrict from, size_t n);
void *memset(void *to, int byte, size_t n);

#endif
