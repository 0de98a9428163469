/* SPDX-License-Identifier: MIT */
/* The block that a program names in a call on a heap; a pointer that is none is misuse. */
#ifndef CORE_INSTANCE_BLOCK_H
#define CORE_INSTANCE_BLOCK_H

#include "ashlar_heap.h"
#include "base/misuse.h"

struct chunk;

/* The chunk of a block, which must belong to the heap, no arena. */
INTERNAL struct chunk *instance_chunk(ash_heap *heap, const char *call, const void *p);
/* Bytes of a block, which must belong to the heap; 0 for NULL. */
INTERNAL size_t instance_bytes(ash_heap *heap, const char *call, const void *p);

#endif
