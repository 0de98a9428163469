/* SPDX-License-Identifier: MIT */
/*
 * The chunk map: address -> chunk record, for every chunk of every region in this process.  A look-up of a
 * foreign pointer yields NULL; a look-up never faults, because it reads only the map itself.
 *
 *   p = 0 | 13 bits | 13 bits | 21 bits     (one more in the root where addresses have 48)
 *         |  root   |  leaf   |  inside the chunk
 *
 * A region that is one span's own, of any size, has the entry of its first chunk.  For look-ups of addresses
 * inside the region it has a few more entries, each at the next address with a larger alignment than the
 * entry before.  So any address in the region, rounded down to some alignment, has an entry (map_around).
 *
 * The map also has a hint, for releases into the default heap:
 *
 *   units   unit -> slab record, one entry for each 32 KiB of 8 GiB; addresses
 *           8 GiB apart share an entry, where the last writer wins.  Entries are
 *           never removed: the record may have another slab now, or no slab.
 *
 * So in nearly every program one load finds the slab.
 */
#ifndef CORE_MAP_H
#define CORE_MAP_H

#include "atomic.h"
#include "base/bits.h"
#include "base/layout.h"
#include "internal.h"

#define MAP_BITS ((CPU_ADDRESS_BITS - CHUNK_SHIFT) / 2) /* bits of the index in a leaf */
#define MAP_SIZE ((size_t)1 << MAP_BITS)
#define MAP_ROOT ((size_t)1 << (CPU_ADDRESS_BITS - CHUNK_SHIFT - MAP_BITS))

struct map_leaf {
	struct chunk *chunk[MAP_SIZE];
};

#define MAP_UNITS ((size_t)1 << 18)

/*
 * mmap places mappings at the top of the address space, so the last root entries are used first.  The root is
 * the last member, so that these entries share a page with the data that follows, even in the smallest
 * programs.
 */
struct map {
	struct slab *units[MAP_UNITS];
	struct map_leaf first; /* needs no system call; few programs need another leaf */
	struct map_leaf *root[MAP_ROOT];
};
INTERNAL_EXTERN struct map chunk_map;

static inline size_t map_index(const void *p)
{
	return ((uintptr_t)p >> CHUNK_SHIFT) % MAP_SIZE;
}

/* Returns the chunk that contains this address, in use or not, or NULL. */
static inline struct chunk *map_guess(const void *p)
{
	uintptr_t top = (uintptr_t)p >> (CHUNK_SHIFT + MAP_BITS);
	struct map_leaf *leaf;

	if (unlikely(top >= MAP_ROOT))
		return NULL; /* not an address of user space */
	/* Pairs with leaf_make: a new leaf is all zero, which means empty. */
	leaf = load_acquire(&chunk_map.root[top]);
	/* Pairs with map_enter: the record is valid before it can be found. */
	return unlikely(leaf == NULL) ? NULL : load_acquire(&leaf->chunk[map_index(p)]);
}

static inline struct slab **map_unit(const void *p)
{
	return &chunk_map.units[((uintptr_t)p >> UNIT_SHIFT) % MAP_UNITS];
}

/*
 * Returns a hint: the slab record of this address, another record, or NULL.  The caller must compare the
 * record's owner with its own record and the address with the base, or use slab_is_of.
 */
static inline struct slab *map_guess_slab(const void *p)
{
	/*
	 * The hint proves only that the record exists: pairs with slab_publish.  A record whose owner word is
	 * the caller's is complete for the caller, which wrote it or took it over from its writer.  For any
	 * other record slab_is_of reads chunk.head by acquire.
	 */
	return load_dependent(map_unit(p));
}

/* Returns the chunk that contains this address and has been in use, or NULL. */
INTERNAL struct chunk *map_find(const void *p);

/* Like map_find, also for addresses inside a region that is one span's own. */
INTERNAL struct chunk *map_around(const void *p);

/* Enters all chunks of the region.  Returns false and enters nothing if there is no memory. */
INTERNAL bool map_enter(struct region *r);
/* Removes the region's chunks from `first` to before `end`. */
INTERNAL void map_leave(struct region *r, size_t first, size_t end);

/* Returns true if the address is in the map's own memory. */
INTERNAL bool map_holds(const void *p);

#endif
