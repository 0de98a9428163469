/* SPDX-License-Identifier: MIT */
/*
 * The chunk map: address -> chunk record, for every chunk of every region of
 * every heap in this process.  Two levels over 2 MiB granules; leaves are
 * made on demand and stay.  Whatever the pointer, a lookup reads only memory
 * of ours: what is foreign is an answer (NULL), not a crash.
 */
#ifndef CORE_MAP_H
#define CORE_MAP_H

#include "atomic.h"
#include "bits.h"
#include "layout.h"

#define MAP_BITS ((CPU_ADDRESS_BITS - CHUNK_SHIFT) / 2)
#define MAP_SIZE ((size_t)1 << MAP_BITS)
_Static_assert(2 * MAP_BITS + CHUNK_SHIFT == CPU_ADDRESS_BITS, "two equal levels");

struct map_leaf {
	struct chunk *chunk[MAP_SIZE];
};
extern INTERNAL struct map_leaf *map_root[MAP_SIZE];

/*
 * Addresses above the user's half alias into it here; the slab's bounds or
 * the span's base reject them afterwards.
 */
static inline struct chunk *map_find(const void *p)
{
	uintptr_t address = (uintptr_t)p;
	/* Both pair with the releases in map_set: what hangs below is initialised. */
	struct map_leaf *leaf =
		load_acquire(&map_root[(address >> (CHUNK_SHIFT + MAP_BITS)) & (MAP_SIZE - 1)]);

	if (__builtin_expect(leaf == NULL, 0))
		return NULL;
	return load_acquire(&leaf->chunk[(address >> CHUNK_SHIFT) & (MAP_SIZE - 1)]);
}

/* Enters all chunks of the region.  False: no memory for a leaf; nothing is entered. */
bool map_enter(struct region *r);
/* Takes them out again. */
void map_leave(struct region *r);
/* True: the address is one of the map's own. */
bool map_holds(const void *p);

#endif
