/* SPDX-License-Identifier: MIT */
/* The records of a region: their size and allocation. */
#ifndef CORE_METADATA_H
#define CORE_METADATA_H

#include "backend/heap.h"
#include "internal.h"

/* Bytes of records for n chunks; `slabs`: with slab records and remote words of this stride. */
INTERNAL size_t metadata_bytes(size_t n, bool slabs, size_t remote_stride);

/*
 * Initialises r, in zeroed memory, as the region record whose final address is `at`
 * (r or elsewhere); the state is CLAIMED, by the caller.
 */
INTERNAL void metadata_init(struct region *r, struct region *at, struct heap *h, size_t n,
			    bool slabs, size_t remote_stride);

/*
 * Records for n chunks, left by a retired region or new, the last of the heap's then; claimed by
 * the caller.  NULL: no memory.
 */
INTERNAL struct region *metadata_make(struct heap *h, size_t n, bool slabs);

/* Unmaps the records of all regions of a heap that is being destroyed. */
INTERNAL void metadata_unmap(struct heap *h);

#endif
