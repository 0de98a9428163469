/* SPDX-License-Identifier: MIT */
/* Resizing: when a block stays in place. */
#ifndef CORE_RESIZE_H
#define CORE_RESIZE_H

#include "base/bits.h"
#include "internal.h"

/* True: a block of `have` bytes can stay in place if it gets this size. */
INTERNAL bool block_fits(size_t have, size_t size);

/* ash_resize for realloc, whose name a misuse then has; only malloc is built with it. */
INTERNAL void *ash_realloc(void *p, size_t size);

#endif
