/* SPDX-License-Identifier: MIT */
/*
 * libashlar-small.a: blocks above 520 192 bytes, or aligned to more than 64 KiB, each in a mapping of its own of whole
 * pieces of 2 MiB.  All that is known of one is the word of its first piece (place.h): one thread that changes it wins
 * the block, or its release.  Memory that the system does not take back keeps a word without pages.
 */
#ifndef CORE_LARGE_H
#define CORE_LARGE_H

#include "small/place.h"

/* Blocks have whole pages of the smallest size that the CPU may have. */
#define LARGE_PIECES 37

static inline size_t large_pages(size_t size)
{
	return size <= PAGE_LEAST ? 1 : (size + PAGE_LEAST - 1) / PAGE_LEAST;
}

/* Bytes of the block that begins where the word is; 0: none does. */
static inline size_t large_bytes(uint64_t word)
{
	return (word & 1) == 0 ? 0 : (word & (((uint64_t)1 << LARGE_PIECES) - 1)) / 2 * PAGE_LEAST;
}

/* Bytes of its mapping, also of one to be had again. */
static inline size_t large_mapped(uint64_t word)
{
	return (word & 1) == 0 ? 0 : (word >> LARGE_PIECES) * PLACE_BYTES;
}

/* It reads zero if that is asked for; more: bytes of addresses behind it that it may grow into.  NULL: no memory. */
INTERNAL void *large_alloc(size_t size, size_t alignment, bool zero, size_t more);
/* Changes the size of the block at p, whose word this is, in place; false: not possible. */
INTERNAL bool large_fit(void *p, uint64_t word, size_t size);
/*
 * Moves the beginning of a block, which is released next, to the beginning of another one.  False: not done, and the
 * other one is lost (PAGES_LOST); that happens once.
 */
INTERNAL bool large_copy(char *to, char *from, size_t bytes);
/* False: another thread released it meanwhile. */
INTERNAL bool large_release(void *p, uint64_t word);

#endif
