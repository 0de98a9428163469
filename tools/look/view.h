/* SPDX-License-Identifier: MIT */
/*
 * One chunk of slabs as it is read.  In this order, and again if something has changed:
 *
 *   header            where slabs begin
 *   remote words      before the free words: a slot that its owner collects in between is
 *                     seen as free, never as taken
 *   slab records      what they are, and their free words
 *   records, header   the same slabs as before: else the words may be another slab's, or
 *                     those of an unowned slab that is being unmade
 *
 * What cannot be is read again as well: a word may have changed between two others.  If it
 * stays as it is, it is damaged.
 */
#ifndef LOOK_VIEW_H
#define LOOK_VIEW_H

#include "picture.h"

enum { NEAR = 1024, TRIES = 4 };

struct view {
	struct picture *p;
	const struct layout *l;
	const struct region *r;
	uint64_t index, at, base;
	char header[RECORD_MAX], again[RECORD_MAX];
	uint8_t place[UNITS]; /* 0: no slab begins there, 1: an owned one, 2: an unowned one */
	const char *fault[UNITS]; /* of the slab that begins there */
	uint64_t remote[UNITS * NEAR / sizeof(uint64_t)];
	char *records, *records_again; /* UNITS of slab_bytes */
};

/* Reads the slabs of the chunk whose header was read; false: it has changed, or cannot be. */
bool view_slabs(struct view *v);
/* A number that changes with the header and the constants of the slabs. */
uint64_t view_hash(const struct view *v);
/* Adds the slabs that can be to the chunk, which is the picture's next.  damaged: counts others. */
void view_add(struct view *v, struct chunk *c, bool damaged);

#endif
