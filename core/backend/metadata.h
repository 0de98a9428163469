/* SPDX-License-Identifier: MIT */
/* The records of a region: how large they are and where they come from. */
#ifndef CORE_METADATA_H
#define CORE_METADATA_H

#include "internal.h"
#include "backend/heap.h"

/* Records for n chunks; `slabs`: with slab records and remote words of this stride. */
INTERNAL size_t metadata_bytes(size_t n, bool slabs, size_t remote_stride);

/*
 * Writes the region that will stand at `at`, in zeroed memory there or
 * elsewhere; it is claimed by the caller.
 */
INTERNAL void metadata_init(struct region *r, struct region *at, struct heap *h, size_t n,
			    bool slabs, size_t remote_stride);

/*
 * Records for n chunks, new or (*old) left by an earlier region; claimed by
 * the caller.  NULL: no memory.
 */
INTERNAL struct region *metadata_make(struct heap *h, size_t n, bool slabs, bool *old);

#endif
