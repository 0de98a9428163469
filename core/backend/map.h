/* SPDX-License-Identifier: MIT */
/*
 * The chunk map: address -> chunk record, for every chunk of every region in
 * this process.  What is foreign is an answer (NULL), not a crash: whatever
 * the pointer, a lookup reads only memory of ours.
 *
 *   p = 0 | 13 bits | 13 bits | 21 bits
 *         |  root   |  leaf   |  inside the chunk
 *
 * Beside it a hint, for releases into the default heap:
 *
 *   units   unit -> slab record, one entry for each 32 KiB of 8 GiB; addresses
 *           8 GiB apart share an entry, which is the last comer's.  Nothing is
 *           taken out: what it names may be another slab by now, or none.
 *
 * So nearly every program has all its slabs one load away.
 */
#ifndef CORE_MAP_H
#define CORE_MAP_H

#include "atomic.h"
#include "base/bits.h"
#include "base/layout.h"
#include "internal.h"

#define MAP_BITS ((CPU_ADDRESS_BITS - CHUNK_SHIFT) / 2)
#define MAP_SIZE ((size_t)1 << MAP_BITS)
_Static_assert(2 * MAP_BITS + CHUNK_SHIFT == CPU_ADDRESS_BITS, "two equal levels");

struct map_leaf {
	struct chunk *chunk[MAP_SIZE];
};

#define MAP_UNITS ((size_t)1 << 18)

/*
 * The root's last entries are those of where the kernel maps first.  So it comes
 * last: they share a page with what follows, in the smallest programs, too.
 */
struct map {
	struct slab *units[MAP_UNITS];
	struct map_leaf first; /* costs no system call, and few programs need another */
	struct map_leaf *root[MAP_SIZE];
};
INTERNAL_EXTERN struct map chunk_map;

static inline size_t map_index(const void *p)
{
	return ((uintptr_t)p >> CHUNK_SHIFT) % MAP_SIZE;
}

/* The chunk that has this address, whether in use or not; NULL: none. */
static inline struct chunk *map_guess(const void *p)
{
	uintptr_t top = (uintptr_t)p >> (CHUNK_SHIFT + MAP_BITS);
	struct map_leaf *leaf;

	if (unlikely(top >= MAP_SIZE))
		return NULL; /* not an address of user space */
	/* Pairs with leaf_make: a leaf begins all zero, which is empty. */
	leaf = load_acquire(&chunk_map.root[top]);
	/* Pairs with map_enter: the record is valid before it can be found. */
	return unlikely(leaf == NULL) ? NULL : load_acquire(&leaf->chunk[map_index(p)]);
}

static inline struct slab **map_unit(const void *p)
{
	return &chunk_map.units[((uintptr_t)p >> UNIT_SHIFT) % MAP_UNITS];
}

/*
 * The slab record of this address, or another one, or NULL.  For callers that
 * compare the record's owner with themselves, and the address with its base.
 */
static inline struct slab *map_guess_slab(const void *p)
{
	/* Pairs with slab_publish: the record is complete when it is found. */
	return load_acquire(map_unit(p));
}

/* The chunk in use that has this address; NULL: none. */
INTERNAL struct chunk *map_find(const void *p);

/* Enters all chunks of the region.  False: no memory for it; nothing is entered. */
INTERNAL bool map_enter(struct region *r);
/* Takes them out again. */
INTERNAL void map_leave(struct region *r);

/* True: the address is one of the map's own. */
INTERNAL bool map_holds(const void *p);

#endif
