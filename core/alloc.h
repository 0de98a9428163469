/* SPDX-License-Identifier: MIT */
/* A slot for whoever calls. */
#ifndef CORE_ALLOC_H
#define CORE_ALLOC_H

#include <stdbool.h>

/*
 * From the thread's own slab, or from anybody's where that cannot be.  NULL:
 * no memory.  clean: the slot is known to read zero.
 */
__attribute__((noinline)) void *slot_alloc(unsigned class, bool *clean);

#endif
