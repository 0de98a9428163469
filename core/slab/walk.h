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
	bool mend;	 /* chunks are mended, also those without a slab: see chunk_mend */
	uint32_t offset; /* of the record, from its chunk record */
};

static inline struct walk walk_from(struct heap *h)
{
	return (struct walk){region_first(h), 0, NULL, CHUNK_UNITS, false, 0};
}

/* The next slab that is published; NULL: the end. */
INTERNAL struct slab *walk_next(struct walk *w);

#endif
