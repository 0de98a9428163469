/* SPDX-License-Identifier: MIT */
/*
 * libashlar-small.a: one word for each piece of 2 MiB of addresses tells its contents.  A foreign pointer has
 * the word 0.  The look-up reads the map alone, and faults nowhere.
 *
 *	63 ......... 37 | 36 ....... 1 | 0
 *	    address of a pool's record | 0    a pool (pool.h)
 *	pieces          | pages        | 1    a large block begins (large.h); no pages: its memory may be used again
 *	0               | 0            | 1    PLACE_GONE: memory that went back to the system
 *	0               | 0            | 0    nothing of Ashlar's, or a further piece of a large block
 *
 *	p = 0 | 13 bits | 13 bits | 21 bits     (one more in the root where addresses have 48)
 *	      |  root   |  leaf   |  inside the piece
 */
#ifndef CORE_PLACE_H
#define CORE_PLACE_H

#include "atomic.h"
#include "pages.h"

#define PLACE_SHIFT 21
#define PLACE_BYTES ((size_t)1 << PLACE_SHIFT)
#define PLACE_BITS  ((CPU_ADDRESS_BITS - PLACE_SHIFT) / 2)
#define PLACE_LEAF  ((size_t)1 << PLACE_BITS)
#define PLACE_ROOT  ((size_t)1 << (CPU_ADDRESS_BITS - PLACE_SHIFT - PLACE_BITS))
#define PLACE_GONE  ((uint64_t)1)

struct pool;

/* Returns the pool of the word, or NULL. */
static inline struct pool *place_pool(uint64_t word)
{
	return (word & 1) == 0 ? (struct pool *)(uintptr_t)word : NULL; /* NOLINT: an address */
}

/*
 * Returns the word of the piece that has this address.  If there is no such word, the result points to a 0
 * that must not be written.
 */
INTERNAL uint64_t *place_of(const void *p);
static inline uint64_t place_at(const void *p)
{
	return load_acquire(place_of(p)); /* pairs with pool_new and large_alloc */
}
/* Like place_of, for mapped memory; makes the word if need be.  Returns NULL if there is no memory. */
INTERNAL uint64_t *place_make(const void *p);
/*
 * Returns the first word that is not 0 of a piece at or behind *at, and sets *at to the piece's beginning.
 * Returns 0 if there is no such word.
 */
INTERNAL uint64_t place_next(const char **at);

#endif
