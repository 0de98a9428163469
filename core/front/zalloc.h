/* SPDX-License-Identifier: MIT */
/* Aligned blocks of any kind. */
#ifndef CORE_ZALLOC_H
#define CORE_ZALLOC_H

#include "base/bits.h"
#include "internal.h"

/* As alloc_rest; NULL also if the alignment is none that ash_aligned_alloc accepts. */
INTERNAL SLOW void *alloc_aligned_rest(size_t alignment, size_t size, bool zero);

#endif
