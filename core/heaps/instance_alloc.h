/* SPDX-License-Identifier: MIT */
/* Allocating blocks of a given heap. */
#ifndef CORE_INSTANCE_ALLOC_H
#define CORE_INSTANCE_ALLOC_H

#include "backend/heap.h"

/* alignment: as in ash_aligned_alloc; zero: the block reads zero.  NULL: no memory. */
INTERNAL void *instance_alloc(struct heap *h, size_t size, size_t alignment, bool zero);

struct intent;

/* A draft in a heap shared by processes: only the intent, CLAIMED, names the block. */
INTERNAL void *instance_draft(struct heap *h, size_t size, bool zero, struct intent *draft);

#endif
