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
	uint32_t offset; /* of the record, from its chunk record */
};

static inline struct walk walk_from(struct heap *h)
{
	return (struct walk){region_first(h), 0, NULL, CHUNK_UNITS, 0};
}

/* The record of the next unit of a slab chunk, with or without a slab; NULL: the end. */
INTERNAL struct slab *walk_next(struct walk *w);

/* True: the slab whose record walk_next returned (still) begins in the walk's unit. */
static inline bool walk_at_slab(const struct walk *w)
{
	return load_acquire(&w->chunk->head[w->unit]) == w->offset;
}

#endif
