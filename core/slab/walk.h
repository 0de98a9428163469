/* SPDX-License-Identifier: MIT */
/* A walk over all slabs of a heap, for operations that cannot use hints. */
#ifndef CORE_WALK_H
#define CORE_WALK_H

#include "internal.h"
#include "slab/slab.h"

struct walk {
	struct region *region;
	size_t index; /* of the chunk after this one */
	struct chunk *chunk;
	unsigned unit;
};

static inline struct walk walk_from(struct heap *h)
{
	return (struct walk){region_first(h), 0, NULL, CHUNK_UNITS};
}

/*
 * The next slab that is published; NULL: the end.  On its way it mends each chunk's hint of free
 * units (chunk_mend), which a vanished thread may not have set yet.
 */
INTERNAL struct slab *walk_next(struct walk *w);

#endif
