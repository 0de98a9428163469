/* SPDX-License-Identifier: MIT */
/*
 * The layout of a heap's structures, as its descriptor (ashlar_descriptor.h) says.  What is
 * checked here holds for all that reads records: each member lies within its record.
 */
#ifndef LOOK_LAYOUT_H
#define LOOK_LAYOUT_H

#include <ashlar_descriptor.h>

#include "rt.h"

#define UNITS 64 /* of a chunk: one word */

enum { CLASSES_MAX = 512, GROUPS_MAX = 64, RECORD_MAX = 4096 };

struct layout {
	uint32_t field[ASH_FIELDS];
	uint32_t class_bytes[CLASSES_MAX]; /* of a slot */
	size_t chunk, unit;		   /* bytes */
	char release[16];
	uint64_t heap, map, base, length; /* as in the descriptor */
};

/* NULL: the descriptor is one that can be used; else what is wrong with it. */
const char *layout_set(struct layout *l, const struct ash_descriptor *d);

/* Entries of the root of the chunk map. */
size_t map_roots(const struct layout *l);

/* The member of a record. */
static inline uint64_t member(const struct layout *l, const void *record, enum ash_field field)
{
	const char *at = (const char *)record + ASH_MEMBER_OFFSET(l->field[field]);
	uint64_t value = 0;

	memcpy(&value, at, ASH_MEMBER_BYTES(l->field[field]));
	return value;
}

/* The i-th element of an array. */
static inline uint64_t element(const struct layout *l, const void *record, enum ash_field field,
			       size_t i)
{
	return member(l, (const char *)record + i * ASH_MEMBER_BYTES(l->field[field]), field);
}

#endif
