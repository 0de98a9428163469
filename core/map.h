/* SPDX-License-Identifier: MIT */
/*
 * The chunk map: address -> chunk record, for every chunk of every region in
 * this process.  What is foreign is an answer (NULL), not a crash: whatever
 * the pointer, a lookup reads only memory of ours.
 *
 *   table     one entry for each 2 MiB of 64 GiB of address space; addresses
 *             64 GiB apart share an entry, which is the first comer's
 *   overflow  two levels over all of the address space, for the others
 *
 * So nearly every program has its whole heap one load away.
 */
#ifndef CORE_MAP_H
#define CORE_MAP_H

#include "atomic.h"
#include "bits.h"
#include "layout.h"

#define MAP_TABLE ((size_t)1 << 15)

extern INTERNAL struct chunk *map_table[MAP_TABLE];

/*
 * The chunk that has this address, or another one, or NULL.  For callers
 * that compare the address with the base of a slab anyway.
 */
static inline struct chunk *map_guess(const void *p)
{
	/* Pairs with map_enter: the record is valid before it can be found. */
	return load_acquire(&map_table[((uintptr_t)p >> CHUNK_SHIFT) % MAP_TABLE]);
}

/* The chunk in use that has this address; NULL: none. */
struct chunk *map_find(const void *p);

/* Enters all chunks of the region.  False: no memory for it; nothing is entered. */
bool map_enter(struct region *r);
/* Takes them out again. */
void map_leave(struct region *r);

/* True: the map leads from the address to the record, in use or not. */
bool map_has(const void *p, const struct chunk *c);
/* True: the address is one of the map's own. */
bool map_holds(const void *p);

#endif
