/* SPDX-License-Identifier: MIT */
/* Sums over a picture. */
#ifndef LOOK_SUMS_H
#define LOOK_SUMS_H

#include "picture.h"

struct row {
	uint64_t slabs, bytes, slots, taken, free, released;
	uint64_t empty, partly;	/* slabs without a block; with blocks and free slots */
	uint64_t tail;		/* bytes behind the last slot */
	uint64_t rounding;	/* of the blocks, at most: what the next smaller class would not hold */
	uint64_t resident;	/* bytes */
	uint64_t resident_empty; /* of it in slabs without a block */
	uint64_t changed;	/* slots that differ between the two looks */
};

struct sums {
	struct row class[CLASSES_MAX], all;
	struct row *owner;	/* of each owner; behind the last: unowned, and without owner */
	uint64_t spans, span_bytes, span_space, span_resident;
	uint64_t block_bytes;	/* in slabs */
	uint64_t free_bytes, released_bytes, empty_bytes;
	uint64_t retained;	/* of free units and chunks: may be resident */
	uint64_t reserved, metadata, resident, resident_free;
	uint64_t changed_spans, changed, restless;
	uint64_t apart;		/* nanoseconds between the looks; 0: there was one */
};

/* before: the look before, or NULL.  False: no memory. */
bool sums_make(struct sums *s, const struct picture *p, const struct picture *before);
void sums_drop(struct sums *s);

#endif
