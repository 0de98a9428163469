/* SPDX-License-Identifier: MIT */
/* Runs: adjacent chunks of a region, known by the first one; each call says how many. */
#ifndef CORE_RUN_H
#define CORE_RUN_H

#include "backend/heap.h"

struct run {
	struct region *region; /* NULL: none */
	size_t first;	       /* chunk      */
};

static inline char *run_base(struct run run)
{
	return run.region->base + (run.first << CHUNK_SHIFT);
}

/* Bytes of the run's n chunks: a span's own region may not have all of the last one. */
static inline size_t run_bytes(struct run run, size_t n)
{
	size_t alone = region_alone(run.region);

	return alone != 0 ? alone : n << CHUNK_SHIFT;
}

static inline struct chunk *run_chunk(struct run run)
{
	return region_chunk(run.region, run.first);
}

#endif
