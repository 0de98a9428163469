/* SPDX-License-Identifier: MIT */
/* Blocks of hardened products, as their public calls make and release them. */
#ifndef CORE_HARDENED_H
#define CORE_HARDENED_H

#include "internal.h"

#if IS_HARDENED
/* A block; NULL: no memory (ash_on_no_memory was called).  It reads zero; zero: a span is not to have huge pages. */
INTERNAL void *block_new(size_t alignment, size_t size, bool zero);

#define SIZE_UNTOLD (SIZE_MAX - 1) /* no block has it, nor has one SIZE_MAX, which a program may tell */
/* Releases the block.  size: what was told.  name: malloc's, or NULL.  False: p is no block of the default heap. */
INTERNAL bool block_release(const char *call, const char *name, void *p, size_t size);
#endif

#endif
