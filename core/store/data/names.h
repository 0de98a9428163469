/* SPDX-License-Identifier: MIT */
/* A name as it lies in the heap: for names.c, which writes it, and for views. */
#ifndef CORE_NAMES_H
#define CORE_NAMES_H

#include <stddef.h>
#include <stdint.h>

/* Words of the directory; names in a bucket that a search passes, in a forged file. */
enum { NAME_BUCKETS = 1024, NAME_STEPS = 1 << 20 };

struct name {
	uint64_t next;
	uint64_t value; /* the slot */
	uint64_t hash;
	uint64_t length;
	char text[];
};

static inline uint64_t name_hash(const char *text, size_t length)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	while (length-- > 0)
		hash = (hash ^ (unsigned char)*text++) * UINT64_C(0x100000001b3);
	return hash ^ hash >> 32;
}

#endif
